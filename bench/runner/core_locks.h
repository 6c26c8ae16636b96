/* One lock per core of this host, so that only one campaign of all users measures on a core at a
 * time. A campaign holds its locks from its first launch until its last process has ended, even
 * if the runner is killed. The lock files are in $SCALEBENCH_LOCKS, else in
 * /tmp/scalebench-cores. */
#pragma once

#include <stdbool.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "kernels/base/error.h"

/* Processors that a campaign uses, and its locks on their cores. */
struct core_locks {
    bool cpus[CPUS_MAX];
    int fds[CPUS_MAX];
    int n;
};

/* Adds the processors of a plan. A rank that is not bound may use all processors of this
 * process. */
enum status core_locks_add(struct core_locks *l, const struct place_plan *plan, struct error *e);

/* Locks the cores in ascending order. ERR_UNAVAILABLE, naming the holder, if a core is in use:
 * locks taken so far are kept, so call again later. ERR_SYSTEM if locking is not possible. `who`
 * is written to the files, for messages of other campaigns. */
enum status core_locks_take(struct core_locks *l, const char *who, struct error *e);
void core_locks_release(struct core_locks *l);
