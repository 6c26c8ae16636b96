/* What a process can find out, without MPI, about the processes that the same launcher started on its
 * node: before MPI has started and after it has ended, only the system can be asked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

/* The rank that the launcher's environment gives this process; -1: none. */
int launcher_rank(void);

/* ERR_ARGUMENT with the line to type where the launcher says that it has started more than `ranks`
 * processes as one job, `ranks` being what MPI says: srun without a plugin for MPI starts jobs of
 * one rank each, side by side. Only the first of them has a text, since all would say the same. */
enum status launcher_check(int ranks, const char *program, struct error *e);

/* Writes "rank 1 3" for the processes with the same parent as this one that are stopped (SIGSTOP, a
 * debugger), as /proc shows them; false when there are none or none can be seen. */
bool launcher_name_stopped(char *text, size_t size);

/* Whether launcher_leave below tells the launcher of a rank's end: one of PMI-1, or there is none. Others
 * (PMIx, Open MPI's, Cray's) take a rank that leaves without MPI_Finalize for crashed. */
bool launcher_hears_leaving(void);

/* Ends a rank of MPI without MPI_Finalize: streams are flushed, the launcher is told that this rank
 * is done, whatever its exit status. In MPI_Finalize ranks of MPICH before 4.2 on UCX meet in a
 * barrier that makes no progress while others still wait for them to answer the end of a
 * connection: over TCP every other run ended there or never. Ranks leave after a barrier, so that
 * none waits for another. */
_Noreturn void launcher_leave(int exit_status);

/* Waits until what this process wrote to standard output and error has been read: told to abort, Hydra
 * throws away what it has not read yet. What it has read it passes on before that. Ten seconds at most,
 * for readers that have stopped; 0.2 where nobody can say what was read (no pipe). */
void launcher_await_reading(void);
