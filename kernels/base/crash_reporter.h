/* Last words for a process that cannot say any. A child, which does nothing but wait, tells on
 * standard error when its parent has gone without a goodbye: killed, or crashed. It holds what the
 * parent inherited, so that a launcher that takes a closed connection for the end of a rank, and
 * then kills the others, hears of it only afterwards: of those who die then it could not tell which
 * was the first. Of the processes that one launcher has started one is spoken of at a time. */
#ifndef SCALEBENCH_KERNELS_BASE_CRASH_REPORTER_H
#define SCALEBENCH_KERNELS_BASE_CRASH_REPORTER_H

#include "kernels/base/error.h"

/* Forks; call it before any thread and before MPI. `words` is what to say, a line without its end,
 * borrowed during the call. *keeper is for keeper_goodbye. */
enum status keeper_start(int *keeper, const char *words, struct error *e);

/* The parent ends of its own will, whether well or not: the child ends without a word. Safe in a
 * signal handler, and once only. */
void keeper_goodbye(int keeper);

#endif
