/* Error exit of a program that runs as several ranks. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Returns whether this is rank 0 by the launcher's environment, which is all that is known before
 * MPI starts. Rank 0 prints errors for all. */
bool failure_is_first_process(void);

/* Warns, once per node before MPI starts, if /dev/shm is too small for MPICH, which would end with
 * "Out of memory" or SIGBUS. Not an error: other libraries may need less. */
void failure_warn_of_shared_memory(void);

/* Returns the exit status of `e`. Prints its text to standard error if `speak` is true and the text
 * is not empty. */
int failure_report(const char *program, const struct error *e, bool speak);

/* Aborts all ranks after a short delay, so that the launcher can read errors of other ranks. A rank
 * without an error text waits two seconds for a rank with one. */
void failure_abort_all(int exit_status, const struct error *e);
