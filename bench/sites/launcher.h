/* The program that starts the ranks of a launch: looked for once, as a campaign has thousands of
 * launches and PATH a dozen folders. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

struct launcher {
    char path[4096];
    struct error missing; /* ERR_UNAVAILABLE with the reason where there is none; else OK */
};

/* $MPIEXEC, the mpiexec that a bundle has in `folder` beside this program, else mpiexec.mpich or mpiexec of
 * PATH. */
void launcher_find(struct launcher *launcher, const char *folder);

/* Looks for an executable as a shell would. */
bool launcher_find_program(const char *name, char *path, size_t size);
