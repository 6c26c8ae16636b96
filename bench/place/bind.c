#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"

/* Processor set with room for all processor numbers that Linux supports. */
struct affinity {
    cpu_set_t parts[CPUS_MAX / CPU_SETSIZE];
};

static enum status affinity_get(struct affinity *set, struct error *e)
{
    *set = (struct affinity){0};
    if (sched_getaffinity(0, sizeof *set, set->parts) == 0)
        return OK;
    return error_set(e, ERR_SYSTEM,
                     "cannot read the processors that this process may use: sched_getaffinity: %s",
                     strerror(errno));
}

/* Returns ERR_UNAVAILABLE if the binding in force differs from `want`: the kernel silently drops
 * processors outside the cpuset. */
static enum status check_bound(const char *cpus, const struct affinity *want, struct error *e)
{
    struct affinity got;
    char read_back[256];
    TRY(affinity_get(&got, e));
    if (CPU_EQUAL_S(sizeof got, got.parts, want->parts))
        return OK;
    TRY(place_read_back(read_back, sizeof read_back, e));
    return error_set(e, ERR_UNAVAILABLE, "cannot bind to processors %s: the kernel allows only %s",
                     cpus, read_back);
}

enum status place_bind_self(const char *cpus, struct error *e)
{
    struct affinity want = {0};
    bool marked[CPUS_MAX] = {false};
    if (cpus[0] == '\0')
        return OK;
    if (!cpu_list_mark(marked, cpus))
        return error_set(e, ERR_ARGUMENT,
                         "expected a list of processors such as 0 or 0-3,8, found '%s'", cpus);
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (marked[cpu])
            CPU_SET_S(cpu, sizeof want, want.parts);
    if (sched_setaffinity(0, sizeof want, want.parts) != 0)
        return error_set(e, ERR_UNAVAILABLE, "cannot bind to processors %s: %s", cpus,
                         strerror(errno));
    return check_bound(cpus, &want, e);
}

static bool append_run(char *cpus, size_t size, int low, int high)
{
    size_t used = strlen(cpus);
    const char *comma = used > 0 ? "," : "";
    int n = low == high ? snprintf(cpus + used, size - used, "%s%d", comma, low)
                        : snprintf(cpus + used, size - used, "%s%d-%d", comma, low, high);
    return n > 0 && (size_t)n < size - used;
}

enum status place_read_back(char *cpus, size_t size, struct error *e)
{
    struct affinity set;
    TRY(affinity_get(&set, e));
    cpus[0] = '\0';
    bool fits = true;
    for (int cpu = 0, low = -1; cpu <= CPUS_MAX && fits; cpu++) {
        bool usable = cpu < CPUS_MAX && CPU_ISSET_S((size_t)cpu, sizeof set, set.parts);
        if (usable && low < 0)
            low = cpu;
        if (usable || low < 0)
            continue;
        fits = append_run(cpus, size, low, cpu - 1);
        low = -1;
    }
    if (!fits)
        return error_set(e, ERR_ARGUMENT, "the processor list is longer than %zu characters",
                         size - 1);
    return OK;
}
