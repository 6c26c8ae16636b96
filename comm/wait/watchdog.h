/* A thread that ends the process when a blocking call exceeds its deadline, since a rank inside
 * MPI cannot do that itself. Arming costs two stores. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

struct watchdog;

/* Describes the wait in text [size]; called by the watchdog's thread after the deadline. It may
 * only read memory that outlives the wait, and only atomic or constant members, because the wait
 * may be ending. */
typedef void watchdog_describe(void *arg, char *text, size_t size);

/* Starts the thread. While the process runs, the thread writes the time to *alive_ns (borrowed;
 * CLOCK_MONOTONIC) for other processes to read. */
enum status watchdog_start(struct watchdog **watchdog, watchdog_describe *describe, void *arg,
                           _Atomic int64_t *alive_ns, struct error *e);
void watchdog_stop(struct watchdog *watchdog);

/* Arms the watchdog until watchdog_disarm. At `deadline_ns` (CLOCK_MONOTONIC) the process writes
 * the description to standard error and ends by quick_exit with status 1. The launcher then ends
 * the other ranks. */
void watchdog_arm(struct watchdog *watchdog, int64_t deadline_ns);
void watchdog_disarm(struct watchdog *watchdog);
