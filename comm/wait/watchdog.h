/* A thread that ends the process if a blocking call exceeds its deadline, because a rank that is
 * blocked inside MPI cannot do that. Arming the watchdog costs two stores. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

struct watchdog;

/* Describes the wait in text [size]. The watchdog's thread calls it after the deadline, while the
 * wait may be ending. It may read only memory that outlives the wait, and only atomic or constant
 * members of it. */
typedef void watchdog_describe(void *arg, char *text, size_t size);

/* Starts the thread. It writes the time to *alive_ns (borrowed; CLOCK_MONOTONIC) at every check,
 * for other processes to read. */
enum status watchdog_start(struct watchdog **watchdog, watchdog_describe *describe, void *arg,
                           _Atomic int64_t *alive_ns, struct error *e);
void watchdog_stop(struct watchdog *watchdog);

/* Sets the deadline, until watchdog_disarm. After `deadline_ns` (CLOCK_MONOTONIC) the thread writes
 * the description to standard error and ends the process by quick_exit with status 1. The launcher
 * then ends the other ranks. */
void watchdog_arm(struct watchdog *watchdog, int64_t deadline_ns);
void watchdog_disarm(struct watchdog *watchdog);
