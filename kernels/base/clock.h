/* One clock: CLOCK_MONOTONIC, the same for every process of a node. */
#pragma once

#include <stdint.h>

int64_t clock_ns(void);

double clock_seconds_since(int64_t begin_ns);

/* User and system time of this process. */
int64_t clock_process_ns(void);

/* Seconds since 1970. */
double clock_date_s(void);

/* Measured on this machine: the smallest step the clock takes and what one reading costs. */
void clock_calibrate(int64_t *resolution_ns, int64_t *overhead_ns);
