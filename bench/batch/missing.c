#include "bench/batch/missing.h"

#include <stdlib.h>

#include "bench/order/launch_order.h"
#include "bench/record/journal.h"
#include "bench/runner/files.h"
#include "kernels/base/mem.h"

/* Returns whether a point still lacks launches. A skipped point does, since it may fit a larger
 * job. */
static bool lacks(const struct launch_order *o, size_t point)
{
    const struct point_launches *p = &o->points.points[point];
    if (p->is_twin || p->diverged)
        return false;
    return p->skipped || p->failed || p->n_queued > 0 || p->accuracy_left > 0 ||
           p->progress < p->wanted;
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void keep_different(struct missing *m)
{
    size_t n = 0;
    qsort(m->nodes, m->n, sizeof *m->nodes, compare);
    for (size_t i = 0; i < m->n; i++)
        if (n == 0 || m->nodes[i] != m->nodes[n - 1])
            m->nodes[n++] = m->nodes[i];
    m->n = n;
}

/* Returns the number of nodes that a point needs in a job; 0 if simulated. Emulated hosts share one
 * node. */
static long nodes_of(const struct spec *spec, size_t point)
{
    const struct config *c = &spec->points[point].config;
    return config_is_simulated(c) ? 0 : config_site(c)->shares_cores ? 1 : config_int(c, OPT_NODES);
}

long missing_cores(const struct point *point)
{
    const struct config *c = &point->config;
    enum option_id ranks = config_site(c)->shares_cores ? OPT_RANKS : OPT_RANKS_PER_NODE;
    return config_is_simulated(c) ? 0 : config_int(c, ranks) * config_int(c, OPT_THREADS);
}

static bool fits(const struct point *point, const struct spec_machine *machine)
{
    return config_int(&point->config, OPT_OVERSUBSCRIBE) == OVERSUBSCRIBE_allow ||
           missing_cores(point) <= machine->usable_cores;
}

/* Returns whether a base point needs no job of its own: jobs of points on more nodes will run all
 * its missing launches. */
static bool comes_with_others(const struct launch_order *o, const struct spec *spec,
                              const struct spec_machine *machine, size_t point)
{
    const struct point_launches *p = &o->points.points[point];
    if (p->skipped || p->failed || p->n_queued > 0 || p->accuracy_left > 0)
        return false;
    for (size_t i = 0; i < p->n_users; i++)
        if (lacks(o, p->users[i]) && fits(&spec->points[p->users[i]], machine) &&
            nodes_of(spec, p->users[i]) > nodes_of(spec, point))
            return true;
    return false;
}

static bool any_requested_fits(const struct spec *spec, const struct spec_machine *machine)
{
    bool any = false;
    for (size_t i = 0; i < spec->n_points; i++)
        any = any || (spec->points[i].requested && fits(&spec->points[i], machine));
    return any;
}

/* Lists the node counts for which jobs are needed. The list is empty if every requested point needs
 * more cores than a node has. Also sets m->simulated and m->too_large. */
static void list(struct missing *m, const struct launch_order *o, const struct spec *spec,
                 const struct spec_machine *machine)
{
    bool useful = any_requested_fits(spec, machine);
    for (size_t i = 0; i < spec->n_points; i++)
        if (!lacks(o, i) || comes_with_others(o, spec, machine, i))
            continue;
        else if (nodes_of(spec, i) == 0)
            m->simulated++;
        else if (fits(&spec->points[i], machine) && useful)
            m->nodes[m->n++] = nodes_of(spec, i);
        else if (!fits(&spec->points[i], machine) && m->too_large == NULL)
            m->too_large = &spec->points[i];
    keep_different(m);
}

static enum status find_in(struct missing *m, const struct spec *spec,
                           const struct spec_machine *machine, const char *run_dir, struct error *e)
{
    struct journal journal;
    struct launch_order order = {0};
    TRY(MEM_NEW(m->nodes, spec->n_points, "the points of a campaign", e));
    enum status status = journal_open(&journal, run_dir, false, e);
    THEN(status, launch_order_open(&order, spec, &journal, run_dir, 0, e));
    if (status == OK)
        list(m, &order, spec, machine);
    launch_order_close(&order);
    journal_close(&journal);
    return status;
}

enum status missing_find(struct missing *m, const struct spec *spec,
                         const struct spec_machine *machine, const char *out, struct error *e)
{
    char latest[PATH_BYTES];
    *m = (struct missing){0};
    TRY(path_format(latest, e, "%s/%s/latest", out, config_text(&spec->config, OPT_NAME)));
    return find_in(m, spec, machine, latest, e);
}

void missing_free(struct missing *m)
{
    free(m->nodes);
    *m = (struct missing){0};
}
