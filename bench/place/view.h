/* Load of a launch's processors, time of a fixed computation on them, and out-of-memory kills in
 * the runner's cgroup, read right before and right after the launch. */
#pragma once

#include "bench/place/load.h"
#include "bench/place/probe.h"

struct view {
    struct load load;
    struct probe probe;
    bool known; /* whether `load` could be read */
    /* number of processes of this cgroup that the out-of-memory killer has ended; NAN: unknown */
    double oom_kills;
};

/* Fill *view for all processors i < n for which cpus[i] is true. The probe runs for probe_s
 * seconds; 0: no probe. view_before probes first and view_after probes last, so that the load
 * between the calls excludes the probes. */
void view_before(struct view *view, const bool *cpus, int n, double probe_s);
void view_after(struct view *view, const bool *cpus, int n, double probe_s);
