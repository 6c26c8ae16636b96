/* Name and version of the MPI library. */
#pragma once

#include <stddef.h>

/* Writes name and version such as "MPICH 4.0.2" or "Open MPI v4.1.4" to text [size]. May be
 * called before or after MPI starts. */
void library_name(char *text, size_t size);
