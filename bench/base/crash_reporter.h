/* Reports that this process was killed or has crashed, which it cannot say itself. A child that
 * only waits writes a line to standard error when its parent has ended without stopping it. The
 * child holds open what the parent inherited: a launcher that takes a closed connection for the end
 * of a rank, and then kills the others, closes the job only after the line is written; of several
 * dead ranks it could not tell which died first. Of the ranks of one launcher one is reported at a
 * time. */
#pragma once

#include "kernels/base/error.h"

/* Forks; call it before any thread and before MPI. `message` is what to report, a line without its
 * end, borrowed during the call. *reporter is for crash_reporter_stop. */
enum status crash_reporter_start(int *reporter, const char *message, struct error *e);

/* The parent ends of its own will, whether well or not: the child ends and reports nothing. Safe in
 * a signal handler; call it once only. */
void crash_reporter_stop(int reporter);
