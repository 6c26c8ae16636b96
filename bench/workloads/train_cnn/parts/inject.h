/* Injects delays and crashes (inject.*) into steps of this rank. */
#pragma once

#include "bench/replay/inject.h"

/* Sleeps, or kills this process, if the options inject.* request it in this phase of this step.
 * Returns the nanoseconds slept. */
int64_t inject_sleep(const struct inject *in, enum inject_phase phase, uint64_t step);
