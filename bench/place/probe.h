/* A fixed piece of computing, timed on some processors: how fast they are before a launch and after
 * it, whatever program that runs. */
#pragma once

#include <stdbool.h>

struct probe {
    double work_us; /* of the piece, median of its repetitions on the slowest processor */
    double mhz;     /* frequency at the end of it, mean; NAN where the kernel does not tell */
};

/* Repeats the piece (some 20 us) for `seconds` on those of the processors 0..n-1 for which cpus[i]
 * holds, in a child process each, all at once, and waits for them. The median leaves out what comes
 * between now and then: it tells of frequency and of what shares the core, not of the time that
 * others took. Both are NAN where a processor cannot be used or memory runs out. */
struct probe probe_run(const bool *cpus, int n, double seconds);

/* How long the piece may be repeated before, and again after, a launch that is expected to take
 * wall_s: a hundredth of that, 10 ms at most; 0 where that is too short to tell anything, or where both
 * with their processes would take more than a twentieth of the launch. */
double probe_seconds(double wall_s, const bool *cpus, int n);
