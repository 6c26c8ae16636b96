/* One campaign at a time measures on a core: a lock a core of this host, for every user, held from
 * the first launch to the end of the last process however the runner ends. The files lie in
 * $SCALEBENCH_LOCKS, else /tmp/scalebench-cores. */
#pragma once

#include <stdbool.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "kernels/base/error.h"

/* The processors that a campaign uses, and the locks on their cores. */
struct core_locks {
    bool cpus[CPUS_MAX];
    int fds[CPUS_MAX];
    int n;
};

/* Adds the processors of a plan; a rank that is not bound may use all that this process may. */
enum status core_locks_add(struct core_locks *l, const struct place_plan *plan, struct error *e);

/* Locks the cores in ascending order. ERR_UNAVAILABLE, naming the one who holds it, when a core is
 * in use: those before it are kept, and the call is repeated later. ERR_SYSTEM where there can be
 * no locks. `who` is left in the files for others to read. */
enum status core_locks_take(struct core_locks *l, const char *who, struct error *e);
void core_locks_release(struct core_locks *l);
