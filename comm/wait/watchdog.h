/* A thread that ends the process if a blocking call exceeds its deadline. A rank blocked inside MPI
 * cannot end itself. Arming and disarming cost one store each. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

struct watchdog;

/* Describes the wait in text [size]. The watchdog's thread calls this function after the deadline,
 * when the wait may just be ending. The function may only read atomic or constant members of
 * objects that outlive the wait. */
typedef void watchdog_describe(void *arg, char *text, size_t size);

/* Starts the watchdog's thread. At every check, the thread writes the time (CLOCK_MONOTONIC) to
 * *alive_ns, where other processes can read it. alive_ns is borrowed. */
enum status watchdog_start(struct watchdog **watchdog, watchdog_describe *describe, void *arg,
                           _Atomic int64_t *alive_ns, struct error *e);
void watchdog_stop(struct watchdog *watchdog);

/* Sets the deadline `deadline_ns` (CLOCK_MONOTONIC), which holds until watchdog_disarm. After the
 * deadline, the watchdog's thread prints the description of the wait to standard error and ends the
 * process by quick_exit with status 1. */
void watchdog_arm(struct watchdog *watchdog, int64_t deadline_ns);
void watchdog_disarm(struct watchdog *watchdog);
