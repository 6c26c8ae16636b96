/* Times a fixed computation on the processors of a launch, before and after the launch, to see how
 * fast the processors are. Works for any launched program. */
#pragma once

#include <stdbool.h>

struct probe {
    double work_us; /* median time of the computation on the slowest processor */
    double mhz;     /* mean frequency of the processors at the end of the probe; NAN if unknown */
};

/* Repeats the computation (about 20 us) for `seconds` on all processors i < n for which cpus[i] is
 * true, at the same time, each in its own child process. The median of repetitions ignores
 * interruptions. So the result shows a low frequency or a hardware thread that competes for the
 * core, but no processor time taken by other programs. work_us is NAN if a processor cannot be
 * used; both results are NAN if memory runs out. */
struct probe probe_run(const bool *cpus, int n, double seconds);

/* Returns the duration (s) of each of a launch's two probes: 1 % of wall_s, the launch's expected
 * time, but at most 10 ms. Returns 0 if this duration is below 1 ms, or if both probes would take
 * more than 5 % of wall_s. */
double probe_seconds(double wall_s, const bool *cpus, int n);
