#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "kernels/base/mem.h"

static enum status affinity_get(cpu_set_t **set, struct error *e)
{
    *set = CPU_ALLOC(CPUS_MAX);
    if (*set == NULL)
        return error_no_memory(e, "a processor set");
    CPU_ZERO_S(CPU_ALLOC_SIZE(CPUS_MAX), *set);
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(CPUS_MAX), *set) == 0)
        return OK;
    CPU_FREE(*set);
    *set = NULL;
    return error_set(e, ERR_SYSTEM, "sched_getaffinity: %s", strerror(errno));
}

/* The kernel drops processors outside the cpuset without a word, so what it took is compared. */
static enum status check_bound(const char *cpus, const cpu_set_t *want, struct error *e)
{
    cpu_set_t *got;
    TRY(affinity_get(&got, e));
    bool equal = CPU_EQUAL_S(CPU_ALLOC_SIZE(CPUS_MAX), got, want);
    CPU_FREE(got);
    if (equal)
        return OK;
    char read_back[256];
    TRY(place_read_back(read_back, sizeof read_back, e));
    return error_set(e, ERR_UNAVAILABLE, "bound to processors %s, but the system gave %s", cpus,
                     read_back);
}

static enum status bind_to(const char *cpus, const int *list, int n, struct error *e)
{
    cpu_set_t *want = CPU_ALLOC(CPUS_MAX);
    if (want == NULL)
        return error_no_memory(e, "a processor set");
    CPU_ZERO_S(CPU_ALLOC_SIZE(CPUS_MAX), want);
    for (int i = 0; i < n; i++)
        CPU_SET_S((size_t)list[i], CPU_ALLOC_SIZE(CPUS_MAX), want);
    enum status status = OK;
    if (sched_setaffinity(0, CPU_ALLOC_SIZE(CPUS_MAX), want) != 0)
        status = error_set(e, ERR_UNAVAILABLE, "cannot bind to processors %s: %s", cpus,
                           strerror(errno));
    THEN(status, check_bound(cpus, want, e));
    CPU_FREE(want);
    return status;
}

enum status place_bind_self(const char *cpus, struct error *e)
{
    int n = cpu_list_parse(cpus, NULL, 0);
    if (n < 0)
        return error_set(e, ERR_ARGUMENT,
                         "'%s' is not a list of processors; such a list is 0 or 0-3,8", cpus);
    if (n == 0)
        return OK;
    int *list;
    TRY(MEM_NEW(list, (size_t)n, "processors", e));
    cpu_list_parse(cpus, list, n);
    enum status status = bind_to(cpus, list, n, e);
    free(list);
    return status;
}

/* The end of the run of set processors that starts at `cpu`. */
static int run_end(const cpu_set_t *set, int cpu)
{
    while (cpu + 1 < CPUS_MAX && CPU_ISSET_S((size_t)cpu + 1, CPU_ALLOC_SIZE(CPUS_MAX), set))
        cpu++;
    return cpu;
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
    cpu_set_t *set;
    TRY(affinity_get(&set, e));
    cpus[0] = '\0';
    bool fits = true;
    for (int cpu = 0; cpu < CPUS_MAX && fits; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, CPU_ALLOC_SIZE(CPUS_MAX), set))
            continue;
        int high = run_end(set, cpu);
        fits = append_run(cpus, size, cpu, high);
        cpu = high;
    }
    CPU_FREE(set);
    if (!fits)
        return error_set(e, ERR_ARGUMENT, "the processor list is longer than %zu characters",
                         size - 1);
    return OK;
}
