/* Times a fixed computation on the processors of a launch, before and after the launch, to see how
 * fast the processors are. Works for any launched program. */
#pragma once

#include <stdbool.h>

struct probe {
    double work_us; /* median time of the computation on the slowest processor */
    double mhz;     /* mean frequency of the processors at the end of the probe; NAN if unknown */
};

/* Repeats the computation (about 20 us) for `seconds`, in a child process on each processor i < n
 * for which cpus[i] is true. A larger work_us indicates a lower frequency or a busy hardware thread
 * on the same core. work_us is NAN if a processor cannot be used; both results are NAN if memory
 * runs out. */
struct probe probe_run(const bool *cpus, int n, double seconds);

/* Returns the duration (s) of each of a launch's two probes: 1 % of the expected time wall_s, at
 * most 10 ms. Returns 0 if 1 % is below 1 ms, or if probes and their processes need over 5 % of
 * wall_s. */
double probe_seconds(double wall_s, const bool *cpus, int n);
