/* Reports errors of a program that runs as several ranks, and ends all of them. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Returns whether this is rank 0 according to the launcher's environment variables. Before MPI
 * starts, nothing else is known. Rank 0 prints errors for all. */
bool failure_is_first_process(void);

/* Warns before MPI starts, once per node, if /dev/shm is too small for MPICH, which would end with
 * "Out of memory" or SIGBUS. Too little memory is not an error, since other MPI libraries may need
 * less. */
void failure_warn_of_shared_memory(void);

/* Returns the exit status for error `e`. If `speak` is true, prints the error's text to standard
 * error. */
int failure_report(const char *program, const struct error *e, bool speak);

/* Aborts all ranks after a short delay, in which the launcher can read errors of other ranks. A
 * rank without an error text waits two seconds for a rank that has one. */
void failure_abort_all(int exit_status, const struct error *e);
