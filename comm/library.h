/* Name and version of the MPI library. */
#pragma once

#include <stddef.h>

/* Writes name and version such as "MPICH 4.0.2" or "Open MPI v4.1.4" to text [size]. Works before
 * and after MPI_Init. */
void library_name(char *text, size_t size);
