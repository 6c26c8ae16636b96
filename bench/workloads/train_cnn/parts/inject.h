/* Carries out injections on this rank. */
#pragma once

#include "bench/replay/inject.h"

/* Sleeps if this phase and step are chosen; returns the nanoseconds slept. */
int64_t inject_sleep(const struct inject *in, enum inject_phase phase, uint64_t step);
