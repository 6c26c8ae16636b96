/* The program that starts the ranks of a launch: looked for once, as a campaign has thousands of
 * launches and PATH a dozen folders. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

struct launcher {
    char path[4096];
    bool open_mpi;        /* it is Open MPI's, which has other options than hydra */
    struct error missing; /* ERR_UNAVAILABLE with the reason where there is none; else OK */
};

/* $MPIEXEC, the mpiexec that a bundle has in `folder` beside this program, else mpiexec.mpich or mpiexec of
 * PATH. */
void launcher_find(struct launcher *launcher, const char *folder);

/* ERR_UNAVAILABLE with the reason where it is missing, or is not hydra: that of MPICH, MVAPICH and
 * Intel MPI, whose options the sites of several nodes use. */
enum status launcher_check_hydra(const struct launcher *launcher, struct error *e);

/* Looks for an executable as a shell would. */
bool launcher_find_program(const char *name, char *path, size_t size);
