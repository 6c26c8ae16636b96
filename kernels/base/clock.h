/* Reads clocks of this machine. CLOCK_MONOTONIC is the same for all processes of a node. */
#pragma once

#include <stdint.h>

int64_t clock_ns(void);

double clock_seconds_since(int64_t begin_ns);

/* Returns the CPU time of this process so far (user plus system), in ns. */
int64_t clock_process_ns(void);

/* Returns the seconds since 1970 (CLOCK_REALTIME). */
double clock_date_s(void);

/* Measures the resolution (smallest step) of clock_ns and the duration of one call, both in ns. */
void clock_calibrate(int64_t *resolution_ns, int64_t *overhead_ns);
