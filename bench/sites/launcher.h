/* Finds the program that starts the ranks of a launch. Searches only once, since a campaign has
 * thousands of launches. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

struct launcher {
    char path[4096];
    bool open_mpi;        /* whether the launcher is Open MPI's, with options unlike hydra's */
    struct error missing; /* ERR_UNAVAILABLE with the reason if no launcher was found; else OK */
};

/* Finds the launcher: $MPIEXEC, else mpiexec of a bundle in `folder`, else mpiexec.mpich or
 * mpiexec on PATH. */
void launcher_find(struct launcher *launcher, const char *folder);

/* Returns ERR_UNAVAILABLE with the reason if the launcher is missing or belongs to Open MPI. Sites
 * of several nodes use the options of hydra (MPICH, MVAPICH and Intel MPI). */
enum status launcher_check_hydra(const struct launcher *launcher, struct error *e);

/* Finds an executable: a name with '/' is a path, any other name is searched on PATH. Returns false
 * if there is no such executable. */
bool launcher_find_program(const char *name, char *path, size_t size);
