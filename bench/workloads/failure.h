/* How a program that runs as several ranks fails. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Before MPI has started only the launcher's environment tells rank 0, which speaks for all. */
bool failure_is_first_process(void);

/* Says, once a node and before MPI starts, that /dev/shm has less room than MPICH takes to start:
 * it would end with "Out of memory" or of SIGBUS. A warning, since another library may want
 * less. */
void failure_warn_of_shared_memory(void);

/* The exit status; says why on standard error where `speak` and there is something to say. */
int failure_report(const char *program, const struct error *e, bool speak);

/* Ends every rank, a moment after the launcher has read what this one had to say of `e`, so that others that
 * fail beside it are heard; one that has nothing to say gives them two seconds to end all. */
void failure_abort_all(int exit_status, const struct error *e);
