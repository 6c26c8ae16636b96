/* Deadline for MPI calls at start-up and exit: starting MPI, creating the first communicators and
 * windows, finalising MPI. These calls have no non-blocking form, so a watchdog thread ends the
 * process after the deadline. */
#pragma once

#include <stdint.h>

#include "comm/wait/watchdog.h"
#include "kernels/base/error.h"

struct startup_watchdog {
    const char *operation; /* name of the call in error messages, borrowed */
    double deadline_s;
    _Atomic int64_t alive_ns;
    struct watchdog *watchdog; /* NULL if there is no deadline */
};

/* Starts a deadline; startup_watchdog_end cancels it. deadline_s <= 0: no deadline. After the
 * deadline the process exits with status 1. The message names the operation and the ranks of this
 * node that SIGSTOP or a debugger has stopped. *s must not be moved before startup_watchdog_end. */
enum status startup_watchdog_begin(struct startup_watchdog *s, const char *operation,
                                   double deadline_s, struct error *e);
void startup_watchdog_end(struct startup_watchdog *s);
