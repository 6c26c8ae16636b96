/* State of a launch's processors and of the cgroup, read by the runner right before and right after
 * the launch. */
#pragma once

#include "bench/place/load.h"
#include "bench/place/probe.h"

struct view {
    struct load load;
    struct probe probe;
    bool known;       /* whether `load` could be read */
    double oom_kills; /* processes of this cgroup that ran out of memory so far; NAN: unknown */
};

/* Read the state of the processors i in 0..n-1 with cpus[i]. The probe repeats for probe_s seconds,
 * or is left out if that is 0. It lies outside the time between the two readings of the load. */
void view_before(struct view *view, const bool *cpus, int n, double probe_s);
void view_after(struct view *view, const bool *cpus, int n, double probe_s);
