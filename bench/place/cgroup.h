/* Reads limits and counters of the cgroup of this process. Private to bench/place and its tests. */
#pragma once

#include "bench/place/place.h"

/* Returns the smallest CPU quota (cores) of this process's cgroup (version 1 or 2) and the cgroup's
 * ancestors; 0: no quota. The arguments are the paths /proc/self/cgroup and /proc/self/mountinfo,
 * or a test's files. A missing file means no quota. */
double cgroup_quota_cores(const char *self_cgroup, const char *mountinfo);

/* Returns the number of processes that the out-of-memory killer has ended in the cgroup of this
 * process; NAN if unknown. The arguments are as for cgroup_quota_cores. */
double cgroup_oom_kills(const char *self_cgroup, const char *mountinfo);

/* Sets the CPU quota of a machine (0: none) and updates its number of usable cores. */
void place_limit(struct place *place, double quota_cores);
