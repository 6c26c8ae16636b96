/* A deadline where there is no waiter yet, or none any more: starting the library, the first
 * communicators and windows, leaving the library. These calls wait for all ranks and have no
 * non-blocking form; a watchdog thread ends the process where one of them lasts too long. */
#pragma once

#include <stdint.h>

#include "comm/wait/watchdog.h"
#include "kernels/base/error.h"

struct startup_watchdog {
    const char *operation; /* borrowed */
    double deadline_s;
    _Atomic int64_t alive_ns;
    struct watchdog *watchdog; /* NULL: there is no deadline */
};

/* Until startup_watchdog_end: after deadline_s (<= 0: never) the process ends with status 1 and a
 * message that names the operation and those ranks of this node that are stopped. `s` stays where
 * it is. */
enum status startup_watchdog_begin(struct startup_watchdog *s, const char *operation,
                                   double deadline_s, struct error *e);
void startup_watchdog_end(struct startup_watchdog *s);
