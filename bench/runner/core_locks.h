/* One lock per core of this machine, so that only one campaign at a time, of any user, measures on
 * a core. A campaign keeps its locks from its first launch until its last process has ended, even
 * if its runner is killed. The lock files are in $SCALEBENCH_LOCKS, by default
 * /tmp/scalebench-cores. */
#pragma once

#include <stdbool.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "kernels/base/error.h"

/* processors that a campaign uses, and its locks on their cores */
struct core_locks {
    bool cpus[CPUS_MAX];
    int fds[CPUS_MAX];
    int n;
};

/* Adds the processors on which the ranks of a plan can run: for a bound rank, its processors; for
 * an unbound rank, all processors of this process. */
enum status core_locks_add(struct core_locks *l, const struct place_plan *plan, struct error *e);

/* Locks the cores in ascending order. ERR_UNAVAILABLE, naming the other campaign, if a core is in
 * use; a later call takes the remaining locks. ERR_SYSTEM if locks are not possible. `who`: text
 * for messages of other campaigns. */
enum status core_locks_take(struct core_locks *l, const char *who, struct error *e);
void core_locks_release(struct core_locks *l);
