/* Limits and counters of a process's cgroup. Inside bench/place and its tests only. */
#pragma once

#include "bench/place/place.h"

/* The smallest CPU quota, in cores, on the path from the own cgroup to the root (version 1 and 2);
 * 0 when there is none. The arguments are /proc/self/cgroup and /proc/self/mountinfo, or what a
 * test puts in their place; a file that is not there means no quota, as in a kernel without
 * cgroups. */
double cgroup_quota_cores(const char *self_cgroup, const char *mountinfo);

/* Processes of the own cgroup that the out-of-memory killer has ended so far, with the same arguments; NAN where the
 * kernel does not count them. */
double cgroup_oom_kills(const char *self_cgroup, const char *mountinfo);

/* Puts a quota on a machine: usable cores follow. */
void place_limit(struct place *place, double quota_cores);
