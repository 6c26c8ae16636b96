/* Reports that this process was killed or has crashed. A forked child, the reporter, writes a line
 * to standard error if the parent ends without stopping the reporter.
 *
 * The reporter keeps the parent's inherited descriptors open. Some launchers take a closed
 * connection for the end of a rank and then kill the other ranks. Such a launcher sees the
 * connection close only after the line is written. If several ranks of one launcher die together,
 * only the first is reported. SIGABRT ends the parent half a second late: a communication library
 * may abort a rank because another rank died, and the other rank must report first. */
#pragma once

#include "kernels/base/error.h"

/* Forks the reporter. Call this before any thread starts and before MPI_Init. `message` is the line
 * to report, without newline; it may be freed after the call. Pass *reporter to
 * crash_reporter_stop. Errors: ERR_SYSTEM. */
enum status crash_reporter_start(int *reporter, const char *message, struct error *e);

/* Ends the reporter without a report. Call this once before the parent exits, also after an error.
 * Async-signal-safe. */
void crash_reporter_stop(int reporter);
