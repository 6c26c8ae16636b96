#include "bench/collect/resources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/place/cpu_list.h"
#include "bench/resources/node_samples.h"
#include "kernels/base/mem.h"

/* Fewest samples from which network traffic of the timed steps is computed. The first and last
 * sample may each be off by one sampling interval. */
enum { SAMPLES_LEAST = 20 };

/* ---- Nodes ---- */

/* One node of a launch, with its samples. All ranks of a node have the same host name. */
struct node {
    struct node_samples samples;
    const struct rank_record *records; /* [ranks] records of all ranks of the launch; NULL: none */
    int ranks, first;                  /* number of ranks in the launch; the rank that sampled this
                                          node: R in the file name node.R.jsonl */
    int own;                           /* number of ranks on this node */
    bool root;
    int64_t begin_ns, end_ns; /* start and end of the timed steps; if unknown, of the samples */
};

struct nodes {
    const struct rank_record *records; /* [ranks] records of the launch; NULL: none */
    int ranks;
    bool timed; /* whether this is a timed launch, whose steps were recorded */
    struct node *all;
    size_t n;
};

static bool is_on(const struct node *node, int rank)
{
    return node->records == NULL ||
           strcmp(node->records[rank].hello.host, node->records[node->first].hello.host) == 0;
}

static void take_span(struct node *node, bool timed)
{
    const struct node_samples *s = &node->samples;
    node->begin_ns = s->items[0].t_ns;
    node->end_ns = s->items[s->n - 1].t_ns;
    if (node->records == NULL || !timed || node->records[node->first].steps.n == 0)
        return;
    node->begin_ns = INT64_MAX;
    node->end_ns = 0;
    for (int i = 0; i < node->ranks; i++) {
        const struct record_step *steps = node->records[i].steps.items;
        size_t n = node->records[i].steps.n;
        if (!is_on(node, i) || n == 0)
            continue;
        node->begin_ns = steps[0].begin_ns < node->begin_ns ? steps[0].begin_ns : node->begin_ns;
        node->end_ns = steps[n - 1].end_ns > node->end_ns ? steps[n - 1].end_ns : node->end_ns;
    }
}

static void nodes_free(struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        node_samples_free(&nodes->all[i].samples);
    free(nodes->all);
}

static enum status add_node(struct nodes *nodes, const char *path, int rank, struct error *e)
{
    const struct rank_record *records = nodes->records;
    TRY(MEM_GROW(nodes->all, nodes->n, "the nodes of a launch", e));
    struct node *node = &nodes->all[nodes->n++];
    *node = (struct node){.records = records, .ranks = nodes->ranks, .first = rank};
    TRY(node_samples_read(&node->samples, path, e));
    if (node->samples.n < 2) {
        node_samples_free(&node->samples);
        nodes->n--;
        return OK;
    }
    for (int i = 0; i < nodes->ranks && records != NULL; i++)
        node->own += is_on(node, i);
    node->root = records != NULL ? is_on(node, 0) : rank == 0;
    take_span(node, nodes->timed);
    return OK;
}

static enum status nodes_read(struct nodes *nodes, const char *dir, struct error *e)
{
    for (int rank = 0; rank < nodes->ranks; rank++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/node.%d.jsonl", dir, rank);
        if (access(path, F_OK) == 0)
            TRY(add_node(nodes, path, rank, e));
    }
    return OK;
}

/* ---- Polling ---- */

static double overlap_ns(int64_t a_begin, int64_t a_end, int64_t b_begin, int64_t b_end)
{
    int64_t begin = a_begin > b_begin ? a_begin : b_begin, end = a_end < b_end ? a_end : b_end;
    return end > begin ? (double)(end - begin) : 0;
}

static double polled_in(const struct list *list, int64_t from_ns, int64_t to_ns)
{
    const struct record_step *steps = list->items;
    double sum = 0;
    for (size_t i = 0; i < list->n; i++)
        if (steps[i].end_ns > steps[i].begin_ns)
            sum += (double)steps[i].poll_ns *
                   overlap_ns(steps[i].begin_ns, steps[i].end_ns, from_ns, to_ns) /
                   (double)(steps[i].end_ns - steps[i].begin_ns);
    return sum;
}

/* Returns whether the interval lies between the start of the rank's first recorded step (warm-up
 * included) and the end of its last timed step. Does not look for gaps between steps. */
static bool steps_cover(const struct rank_record *r, int64_t from_ns, int64_t to_ns)
{
    const struct list *first = r->warmup.n > 0 ? &r->warmup : &r->steps;
    const struct record_step *begin = first->items, *steps = r->steps.items;
    return r->steps.n > 0 && begin->begin_ns <= from_ns && steps[r->steps.n - 1].end_ns >= to_ns;
}

static double polled_s(const struct node *node, int64_t from_ns, int64_t to_ns)
{
    double sum = 0;
    if (node->records == NULL)
        return NAN;
    for (int i = 0; i < node->ranks; i++) {
        const struct rank_record *r = &node->records[i];
        if (!is_on(node, i))
            continue;
        if (!steps_cover(r, from_ns, to_ns))
            return NAN;
        sum += polled_in(&r->warmup, from_ns, to_ns) + polled_in(&r->steps, from_ns, to_ns);
    }
    return sum / 1e9;
}

/* ---- Rows ---- */

struct writing {
    const struct node *node;
    struct resources_row row;
    struct sample zero; /* the node's counters at the start of the timed steps (time_s = 0) */
    bool has_zero;
    row_writer *write;
    struct csv *csv;
};

/* Returns processor time without polling, cpu_s - polled (s). A negative difference becomes 0
 * within the rounding error of 0.02 s per rank, otherwise NAN. */
static double useful_s(double cpu_s, double polled, int ranks)
{
    double useful = cpu_s - polled, unsure = 0.02 * ranks;
    return useful < -unsure ? NAN : useful < 0 ? 0 : useful;
}

static void take_processes(struct writing *w, const struct sample *a, const struct sample *b)
{
    struct resources_row *row = &w->row;
    double wall_s = (double)(b->t_ns - a->t_ns) / 1e9, of_rank = 100 / wall_s / row->ranks;
    double user = b->values[SAMPLE_user_s] - a->values[SAMPLE_user_s];
    double sys = b->values[SAMPLE_sys_s] - a->values[SAMPLE_sys_s];
    double useful = useful_s(user + sys, polled_s(w->node, a->t_ns, b->t_ns), (int)row->ranks);
    row->cpu_user_pct = of_rank * user;
    row->cpu_sys_pct = of_rank * sys;
    row->cpu_useful_pct = of_rank * useful;
    row->resident_mib = b->values[SAMPLE_resident_mib];
    row->processes = round(b->values[SAMPLE_processes]);
    row->sampler_pct = 100 / wall_s * (b->values[SAMPLE_sampler_s] - a->values[SAMPLE_sampler_s]);
}

static void take_traffic(struct writing *w, const struct sample *a, const struct sample *b)
{
    struct resources_row *row = &w->row;
    double wall_s = (double)(b->t_ns - a->t_ns) / 1e9, mb_s = 1e-6 / wall_s;
    const double *from = a->traffic[LINK_NIC], *to = b->traffic[LINK_NIC];
    const double *lo = a->traffic[LINK_LOOPBACK], *others = a->traffic[LINK_OTHERS];
    double known = w->node->samples.nic[0] ? 1 : NAN, since = w->has_zero ? known : NAN;
    row->received_mb_per_s = known * mb_s * (to[TRAFFIC_RX_BYTES] - from[TRAFFIC_RX_BYTES]);
    row->sent_mb_per_s = known * mb_s * (to[TRAFFIC_TX_BYTES] - from[TRAFFIC_TX_BYTES]);
    row->received_packets_per_s =
        known / wall_s * (to[TRAFFIC_RX_PACKETS] - from[TRAFFIC_RX_PACKETS]);
    row->sent_packets_per_s = known / wall_s * (to[TRAFFIC_TX_PACKETS] - from[TRAFFIC_TX_PACKETS]);
    from = w->zero.traffic[LINK_NIC];
    row->received_mb = since * 1e-6 * (to[TRAFFIC_RX_BYTES] - from[TRAFFIC_RX_BYTES]);
    row->sent_mb = since * 1e-6 * (to[TRAFFIC_TX_BYTES] - from[TRAFFIC_TX_BYTES]);
    row->lo_mb_per_s = mb_s * (b->traffic[LINK_LOOPBACK][TRAFFIC_RX_BYTES] - lo[TRAFFIC_RX_BYTES]);
    row->others_mb_per_s =
        mb_s * (b->traffic[LINK_OTHERS][TRAFFIC_RX_BYTES] - others[TRAFFIC_RX_BYTES] +
                b->traffic[LINK_OTHERS][TRAFFIC_TX_BYTES] - others[TRAFFIC_TX_BYTES]);
}

/* Writes one row per whole sampling interval. time_s: end of the interval relative to begin_ns (s),
 * at most 0 in rows before the timed steps. */
static void write_intervals(struct writing *w)
{
    const struct node *node = w->node;
    const struct node_samples *s = &node->samples;
    int64_t h = s->interval_ns, k = -((node->begin_ns - s->items[0].t_ns) / h) + 1;
    struct sample a, b;
    for (; node->begin_ns + k * h <= s->items[s->n - 1].t_ns; k++) {
        if (!node_samples_at(&a, s, node->begin_ns + (k - 1) * h) ||
            !node_samples_at(&b, s, node->begin_ns + k * h))
            continue;
        w->row.time_s = (double)(k * h) / 1e9;
        w->row.timed = k > 0 && node->begin_ns + k * h <= node->end_ns;
        take_processes(w, &a, &b);
        take_traffic(w, &a, &b);
        w->write(w->csv, &w->row);
    }
}

static void write_node(const struct node *node, size_t number, const struct point *point,
                       const struct resources_row *of, row_writer *write, struct csv *csv)
{
    struct writing w = {.node = node, .row = *of, .write = write, .csv = csv};
    w.row.node = (double)number;
    w.row.host = node->records != NULL ? node->records[node->first].hello.host : node->samples.host;
    w.row.role = node->root ? "root" : "worker";
    w.row.ranks = node->own > 0 ? node->own : config_node_ranks(&point->config, (int)number);
    w.row.nic = node->samples.nic;
    w.has_zero = node_samples_at(&w.zero, &node->samples, node->begin_ns);
    write_intervals(&w);
}

enum status resources_write(const char *dir, const struct point *point, bool timed,
                            const struct rank_record *records, int ranks,
                            const struct resources_row *of, row_writer *write, struct csv *csv,
                            struct error *e)
{
    struct nodes nodes = {.records = records, .ranks = ranks, .timed = timed};
    enum status status = nodes_read(&nodes, dir, e);
    for (size_t i = 0; status == OK && i < nodes.n; i++)
        write_node(&nodes.all[i], i, point, of, write, csv);
    nodes_free(&nodes);
    return status;
}

/* ---- Traffic of a launch ---- */

void resources_add_traffic(struct launch_result *result, bool root,
                           const double counts[TRAFFIC_COUNTS])
{
    double *const to[2][TRAFFIC_COUNTS] = {
        {&result->bytes_nic_rx_worker, &result->packets_nic_rx_worker, &result->bytes_nic_tx_worker,
         &result->packets_nic_tx_worker},
        {&result->bytes_nic_rx, &result->packets_nic_rx, &result->bytes_nic_tx,
         &result->packets_nic_tx},
    };
    for (int i = 0; i < TRAFFIC_COUNTS; i++)
        *to[root][i] = fmax(*to[root][i], counts[i]);
}

/* Returns bytes or packets per step through the node's network interface; NAN: unknown interface or
 * too few samples. */
static double traffic_of(const struct node *node, enum traffic_count count, double steps)
{
    struct sample a, b;
    double samples = (double)(node->end_ns - node->begin_ns) / (double)node->samples.interval_ns;
    bool whole = node->records == NULL;
    if (node->samples.nic[0] == '\0' || (!whole && samples < SAMPLES_LEAST) ||
        !node_samples_at(&a, &node->samples, node->begin_ns) ||
        !node_samples_at(&b, &node->samples, node->end_ns))
        return NAN;
    return (b.traffic[LINK_NIC][count] - a.traffic[LINK_NIC][count]) / steps;
}

static void take_nodes(struct launch_result *result, const struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->n && nodes->n > 1; i++) {
        const struct node *node = &nodes->all[i];
        double counts[TRAFFIC_COUNTS];
        for (int k = 0; k < TRAFFIC_COUNTS; k++)
            counts[k] = traffic_of(node, (enum traffic_count)k, result->steps);
        resources_add_traffic(result, node->root, counts);
    }
}

/* Sets the traffic from the nodes' samples. If samples cannot be read, the traffic stays unknown,
 * and writing resources.csv reports the error. */
void resources_take_traffic(struct launch_result *result, const char *dir,
                            const struct rank_record *records, int ranks)
{
    struct nodes nodes = {.records = records, .ranks = ranks, .timed = true};
    if (isfinite(result->bytes_nic_rx) || !(result->steps > 0) ||
        (records != NULL && (int64_t)records[0].steps.n != records[0].end.timed_steps))
        return;
    if (nodes_read(&nodes, dir, NULL) == OK)
        take_nodes(result, &nodes);
    nodes_free(&nodes);
}

/* ---- Other programs on a launch's processors ---- */

/* Times summed over all processors of a launch (s): elapsed, busy, taken by a hypervisor (steal),
 * and used by the launch's own ranks. */
struct shares {
    double total_s, busy_s, steal_s, own_s;
};

enum overlap { APART, PARTLY, ALIKE };

static enum overlap overlap_of(const struct rank_record *a, const struct rank_record *b)
{
    if (!records_share_machine(a, b))
        return APART;
    if (strcmp(a->hello.bound, b->hello.bound) == 0)
        return ALIKE;
    return cpu_lists_meet(a->hello.bound, b->hello.bound) ? PARTLY : APART;
}

/* Adds the times of a rank's processors to *all, unless an earlier rank has the same processors.
 * Returns false if times are unknown, or another rank shares only some of the processors. */
static bool add_processors(struct shares *all, const struct rank_record *records, int ranks,
                           int rank)
{
    const struct record_end *longest = &records[rank].end;
    double own_s = 0;
    for (int i = 0; i < ranks; i++) {
        const struct record_end *end = &records[i].end;
        enum overlap overlap = overlap_of(&records[rank], &records[i]);
        if (overlap == PARTLY)
            return false;
        if (overlap == APART)
            continue;
        if (i < rank)
            return true;
        own_s += end->cores_own_s;
        longest = end->cores_s > longest->cores_s ? end : longest;
    }
    all->total_s += longest->cores_s;
    all->busy_s += longest->cores_busy_s;
    all->steal_s += longest->cores_steal_s;
    all->own_s += own_s;
    return isfinite(all->total_s + all->busy_s + all->steal_s + all->own_s);
}

void resources_take_cores(struct launch_result *result, const struct rank_record *records,
                          int ranks)
{
    struct shares all = {0};
    for (int i = 0; i < ranks; i++)
        if (!add_processors(&all, records, ranks, i))
            return;
    if (!(all.total_s > 0))
        return;
    double others_s = fmax(0, all.busy_s - all.own_s) + all.steal_s;
    result->foreign_pct = fmin(100, 100 * others_s / all.total_s);
    result->steal_pct = 100 * all.steal_s / all.total_s;
}
