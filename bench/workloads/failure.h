/* Reports errors of a program that runs on several ranks, and ends all ranks. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Returns whether this process is rank 0, which prints errors for all ranks. Works before MPI
 * starts. Returns true if the launcher's environment variables give no valid rank. */
bool failure_is_first_process(void);

/* Warns if /dev/shm is too small for MPICH. Under Hydra, the first rank of each node checks for the
 * whole node; otherwise each rank checks for itself alone. Other MPI libraries may need less. Does
 * not warn if the user sets UCX_TLS, which selects the transport. Call it before MPI starts. */
void failure_warn_of_shared_memory(void);

/* Returns the exit status for error `e`. If `speak` is true, prints the error's text to standard
 * error. */
int failure_report(const char *program, const struct error *e, bool speak);

/* Aborts all ranks, after at least 0.2 s in which the launcher can read error messages of other
 * ranks. Waits at least 2 s if `e` has no text, because another rank then prints the error. */
void failure_abort_all(int exit_status, const struct error *e);
