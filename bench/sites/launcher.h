/* Finds the mpiexec that starts the ranks of a launch. A campaign searches once and uses the result
 * for all its launches. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

struct launcher {
    char path[4096];
    bool open_mpi;        /* whether `path` belongs to Open MPI, whose options are not hydra's */
    struct error missing; /* ERR_UNAVAILABLE with the reason if no launcher was found; else OK */
};

/* Finds the launcher: $MPIEXEC if set, else `folder`/mpiexec (from `make bundle`), else
 * mpiexec.mpich on PATH, else mpiexec on PATH. Sets launcher->missing if there is none. */
void launcher_find(struct launcher *launcher, const char *folder);

/* Returns ERR_UNAVAILABLE with the reason if the launcher is missing or belongs to Open MPI.
 * Without srun, sites with several nodes need hydra, the launcher of MPICH, MVAPICH and Intel
 * MPI. */
enum status launcher_check_hydra(const struct launcher *launcher, struct error *e);

/* Finds an executable: a name with '/' is a path, any other name is searched on PATH. Returns false
 * if there is no such executable. */
bool launcher_find_program(const char *name, char *path, size_t size);
