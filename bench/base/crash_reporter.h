/* Reports that this process was killed or has crashed. A forked child, the reporter, writes a line
 * to standard error if the parent ends without stopping the reporter.
 *
 * The reporter keeps the parent's inherited descriptors open. A launcher that kills all ranks when
 * a connection closes thus reads the line first. Only the first death per launcher is reported.
 * SIGABRT ends the parent half a second late, so that a dead peer is reported first. */
#pragma once

#include "kernels/base/error.h"

/* Forks the reporter. Call this before any thread starts and before MPI_Init. `message`, a line
 * without newline, may be freed afterwards. Pass *reporter to crash_reporter_stop. Errors:
 * ERR_SYSTEM. */
enum status crash_reporter_start(int *reporter, const char *message, struct error *e);

/* Ends the reporter without a report. Call this once before the parent exits, also after an error.
 * Async-signal-safe. */
void crash_reporter_stop(int reporter);
