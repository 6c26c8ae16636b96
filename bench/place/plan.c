#include <stdlib.h>

#include "bench/place/place.h"
#include "bench/place/topology.h"
#include "kernels/base/mem.h"

/* Consecutive cores from core `first` on: all cores of one rank, or one core if threads share
 * cores. `lap`: number of earlier placements in the same cache or NUMA node. */
struct placement {
    int first, numa, cache, lap;
};

/* Placements in the order in which ranks fill them. */
struct placements {
    struct placement *items;
    int n;
    int cores; /* cores in the placement of one rank: threads per rank, or 1 if threads share
                  cores */
};

enum domain { DOMAIN_CACHE, DOMAIN_NUMA, DOMAIN_MACHINE };

static bool same_domain(const struct place_core *a, const struct place_core *b, enum domain domain)
{
    if (domain == DOMAIN_MACHINE)
        return true;
    return a->numa == b->numa && (domain == DOMAIN_NUMA || a->cache == b->cache);
}

/* Cuts the machine into placements of s->cores neighbouring cores. The cores of a placement lie in
 * one `domain`: a cache, a NUMA node or the machine. */
static void placements_cut(struct placements *s, const struct place *p, enum domain domain)
{
    int run = 0;
    s->n = 0;
    for (int i = 0; i < p->machine.cores; i++) {
        const struct place_core *core = &p->cores[i];
        run = i > 0 && same_domain(core - 1, core, domain) ? run + 1 : 1;
        if (run % s->cores == 0)
            s->items[s->n++] = (struct placement){
                .first = i - s->cores + 1, .numa = core->numa, .cache = core->cache};
    }
}

static int by_lap(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;
    return x->lap != y->lap ? x->lap - y->lap : x->first - y->first;
}

/* Reorders placements round robin over caches, or over NUMA nodes: the first placement of each
 * cache or node comes first, then the second of each, and so on. */
static void placements_interleave(struct placements *s, bool nodes)
{
    for (int i = 0; i < s->n; i++) {
        struct placement *at = &s->items[i];
        at->lap = 0;
        for (int j = 0; j < i; j++)
            at->lap += nodes ? s->items[j].numa == at->numa : s->items[j].cache == at->cache;
    }
    qsort(s->items, (size_t)s->n, sizeof *s->items, by_lap);
}

/* Makes placements of `threads` cores: within caches if enough fit for `ranks`, else within NUMA
 * nodes, else anywhere. If all ranks together have more threads than there are cores, each
 * placement is a single core. */
static enum status placements_make(struct placements *s, const struct place *p, int ranks,
                                   int threads, enum place_order order, struct error *e)
{
    bool fits = (long)ranks * threads <= p->machine.cores;
    s->cores = fits ? threads : 1;
    TRY(MEM_NEW(s->items, (size_t)p->machine.cores, "a plan of ranks", e));
    for (enum domain d = DOMAIN_CACHE; d <= DOMAIN_MACHINE; d++) {
        placements_cut(s, p, d);
        if (s->n >= ranks)
            break;
    }
    if (order == ORDER_scatter) {
        placements_interleave(s, false);
        placements_interleave(s, true);
    }
    return OK;
}

/* Returns the core of a thread; threads are numbered over all ranks. *lap: number of lower-numbered
 * threads on that core. */
static int placements_core(const struct placements *s, int thread, int *lap)
{
    int taken = s->n * s->cores;
    *lap = thread / taken;
    thread %= taken;
    return s->items[thread / s->cores].first + thread % s->cores;
}

static void add_cpus(hwloc_bitmap_t cpus, const struct place_core *core, int lap,
                     enum place_bind bind)
{
    if (bind == BIND_core)
        hwloc_bitmap_or(cpus, cpus, core->cpus);
    else if (bind == BIND_numa)
        hwloc_bitmap_or(cpus, cpus, core->numa_cpus);
    else if (bind == BIND_hwthread) {
        int cpu = hwloc_bitmap_first(core->cpus);
        for (int i = lap % hwloc_bitmap_weight(core->cpus); i > 0; i--)
            cpu = hwloc_bitmap_next(core->cpus, cpu);
        hwloc_bitmap_set(cpus, (unsigned)cpu);
    }
}

static enum status plan_slot(const struct place *p, const struct placements *s, int rank,
                             enum place_bind bind, struct place_plan *plan, struct error *e)
{
    struct place_slot *slot = &plan->slots[rank];
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (cpus == NULL)
        return error_no_memory(e, "processor sets");
    for (int t = 0; t < plan->threads_per_rank; t++) {
        int lap, core = placements_core(s, rank * plan->threads_per_rank + t, &lap);
        add_cpus(cpus, &p->cores[core], lap, bind);
        if (t == 0) {
            slot->core = core;
            slot->numa = p->cores[core].numa;
        }
    }
    int length = hwloc_bitmap_list_snprintf(slot->cpus, sizeof slot->cpus, cpus);
    hwloc_bitmap_free(cpus);
    if (length < 0 || (size_t)length >= sizeof slot->cpus)
        return error_set(e, ERR_UNAVAILABLE,
                         "the processor list of rank %d is longer than %zu characters", rank,
                         sizeof slot->cpus - 1);
    return OK;
}

static enum status make_slots(struct placements *placements, const struct place *p,
                              enum place_bind bind, enum place_order order, struct place_plan *plan,
                              struct error *e)
{
    TRY(MEM_NEW(plan->slots, (size_t)plan->ranks, "a plan of ranks", e));
    TRY(placements_make(placements, p, plan->ranks, plan->threads_per_rank, order, e));
    for (int r = 0; r < plan->ranks; r++)
        TRY(plan_slot(p, placements, r, bind, plan, e));
    return OK;
}

static enum status refuse(const struct place_machine *m, int ranks, int threads, struct error *e)
{
    return error_set(e, ERR_UNAVAILABLE,
                     "%d rank%s x %d thread%s need %ld cores, this job may use %d. "
                     "To let ranks share cores, use place.oversubscribe: allow",
                     ranks, ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
                     (long)ranks * threads, m->usable_cores);
}

enum status place_make_plan(const struct place *place, int ranks, int threads, enum place_bind bind,
                            enum place_order order, bool oversubscribe, struct place_plan *plan,
                            struct error *e)
{
    *plan = (struct place_plan){.ranks = ranks, .threads_per_rank = threads};
    if (ranks < 1 || threads < 1)
        return error_set(e, ERR_ARGUMENT,
                         "ranks and threads must be at least 1, found %d ranks x %d threads", ranks,
                         threads);
    plan->oversubscribed = (long)ranks * threads > place->machine.usable_cores;
    if (plan->oversubscribed && !oversubscribe)
        return refuse(&place->machine, ranks, threads, e);
    struct placements placements = {0};
    enum status status = make_slots(&placements, place, bind, order, plan, e);
    free(placements.items);
    if (status != OK)
        place_plan_free(plan);
    return status;
}

void place_plan_free(struct place_plan *plan)
{
    free(plan->slots);
    *plan = (struct place_plan){0};
}
