/* Reports errors of a program that runs on several ranks, and ends all ranks. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Returns whether this process is rank 0, which prints errors on behalf of all ranks. The rank
 * comes from the launcher's environment variables, so this function works before MPI starts.
 * Returns true if the environment has no valid rank. */
bool failure_is_first_process(void);

/* Warns before MPI starts, once per node, if /dev/shm is too small for MPICH, which would end with
 * "Out of memory" or SIGBUS. This is not an error, since other MPI libraries may need less shared
 * memory. */
void failure_warn_of_shared_memory(void);

/* Returns the exit status for error `e`. If `speak` is true, prints the error's text to standard
 * error. */
int failure_report(const char *program, const struct error *e, bool speak);

/* Aborts all ranks. Waits at least 0.2 s first, so that the launcher can read error messages of
 * other ranks. Waits at least 2 s if `e` has no text, because another rank then prints the
 * error. */
void failure_abort_all(int exit_status, const struct error *e);
