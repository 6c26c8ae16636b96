/* Information about the launcher and the other processes it started on this node. It comes from the
 * operating system, so it is available before MPI_Init and after MPI_Finalize. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

/* Returns the rank that the launcher put into the environment of this process; -1 if the
 * environment has no valid rank. */
int launcher_rank(void);

/* Returns the number of processes that the launcher started; 0: no launcher; -1: invalid. *name:
 * environment variable that states the number, borrowed; "" without a launcher. */
int launcher_tasks(const char **name);

/* Returns ERR_ARGUMENT, with the correct command, if the launcher started more processes than MPI
 * has `ranks`. (Without an MPI plugin, srun starts N jobs of one rank each.) Only rank 0's error
 * has a text. */
enum status launcher_check(int ranks, const char *program, struct error *e);

/* Writes the ranks that SIGSTOP or a debugger has stopped, for example "rank 1 3". Only considers
 * processes with the same parent as this process. Returns false if there are none. */
bool launcher_name_stopped(char *text, size_t size);

/* Returns whether a rank can end through launcher_leave: true with a PMI-1 launcher or without a
 * launcher. Other launchers (PMIx, Open MPI, Cray) would report the rank as crashed. */
bool launcher_hears_leaving(void);

/* Ends this rank without MPI_Finalize: flushes all streams and announces a regular end to the
 * launcher. Call a barrier first.
 *
 * Reason: MPI_Finalize of MPICH before 4.2 on UCX can deadlock. Over TCP, half of the runs hung. */
_Noreturn void launcher_leave(int exit_status);

/* Waits until the launcher has read all output of this process, because Hydra discards unread
 * output when a job aborts. Waits at most 10 s, and at least 0.2 s if standard output or error is
 * no pipe. */
void launcher_await_reading(void);
