#include "comm/library.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Writes name and version of the MPI library to `text`. The string of MPI_Get_library_version
 * begins "MPICH Version:\t4.0.2\n" in MPICH, "MVAPICH2 Version      :\t2.3.7\n" in MVAPICH, and
 * "Open MPI v4.1.4, package: " in Open MPI. */
void library_name(char *text, size_t size)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING], name[32] = "", number[32] = "";
    int length;
    MPI_Get_library_version(all, &length);
    if (sscanf(all, "%31s Version : %31s", name, number) == 2)
        snprintf(text, size, "%s %s", name, number);
    else
        snprintf(text, size, "%.*s", (int)strcspn(all, "\n,"), all);
}
