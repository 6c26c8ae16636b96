/* A thread that ends the process when a blocking call lasts beyond its deadline: the one thing a
 * rank that sits inside MPI cannot do itself. Arming costs two stores. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

struct watchdog;

/* Called by the watchdog's thread when a deadline has passed: writes what is known about the wait
 * to `text`. It may only read memory that outlives the wait, and of that what is atomic or never
 * changes: the wait may just be ending. */
typedef void watchdog_describe(void *arg, char *text, size_t size);

/* While the process runs the thread keeps writing the time to *alive_ns (borrowed;
 * CLOCK_MONOTONIC), where others may look whether it does. */
enum status watchdog_start(struct watchdog **watchdog, watchdog_describe *describe, void *arg,
                           _Atomic int64_t *alive_ns, struct error *e);
void watchdog_stop(struct watchdog *watchdog);

/* From now until disarm: at `deadline_ns` (CLOCK_MONOTONIC) the process writes the description to
 * standard error and ends by quick_exit with status 1, upon which the launcher ends the other
 * ranks. */
void watchdog_arm(struct watchdog *watchdog, int64_t deadline_ns);
void watchdog_disarm(struct watchdog *watchdog);
