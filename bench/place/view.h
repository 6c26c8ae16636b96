/* State of a launch's processors and of the cgroup, read by the runner right before and right after the launch, for any
 * program. */
#pragma once

#include "bench/place/load.h"
#include "bench/place/probe.h"

struct view {
    struct load load;
    struct probe probe;
    bool known;       /* the load is */
    double oom_kills; /* in the cgroup of this process so far; NAN: unknown */
};

/* Of those of the processors 0..n-1 for which cpus[i] holds. The piece of work, of probe_s or none where that
 * is 0, lies outside of what the loads of both enclose. */
void view_before(struct view *view, const bool *cpus, int n, double probe_s);
void view_after(struct view *view, const bool *cpus, int n, double probe_s);
