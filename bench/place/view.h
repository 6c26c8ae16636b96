/* Reads the state of a launch's processors and of the cgroup. The runner reads this state right
 * before and right after the launch. */
#pragma once

#include "bench/place/load.h"
#include "bench/place/probe.h"

struct view {
    struct load load;
    struct probe probe;
    bool known; /* whether `load` could be read */
    /* processes of this cgroup that the out-of-memory killer has ended; NAN: unknown */
    double oom_kills;
};

/* Read the state of all processors i < n for which cpus[i] is true. The probe (probe.h) runs for
 * probe_s seconds; 0: no probe. The load of the probe is not part of the load between the two
 * calls. */
void view_before(struct view *view, const bool *cpus, int n, double probe_s);
void view_after(struct view *view, const bool *cpus, int n, double probe_s);
