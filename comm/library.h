/* Which MPI this is. */
#pragma once

#include <stddef.h>

/* "MPICH 4.0.2", "Open MPI v4.1.4": the beginning of what the library says of itself. Before or after MPI
 * starts. */
void library_name(char *text, size_t size);
