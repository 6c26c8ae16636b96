#include "comm/cost/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Work ---- */

double sweep_add_s(const struct sweep_machine *m, const struct operation *op, size_t count)
{
    int passes = op->rule->passes > 0 ? op->rule->passes : 1;
    return (double)(count * op->width) * passes * m->memory.gamma_s;
}

double sweep_work_s(const struct sweep_machine *m, const struct operation *op,
                    const struct round *r)
{
    return sweep_add_s(m, op, r->added) + (double)(r->copied * op->width) * m->memory.beta_s;
}

/* ---- Links ---- */

/* Link between two ranks. sending_s, receiving_s, up_s and down_s point to the times (s) until
 * which parts of the link are busy. sending_s: the sender. receiving_s: the receiver; NULL: never
 * busy. up_s, down_s: the leaf switches of sender and receiver; NULL: both are on one leaf, or
 * there are no leaves. leaf_beta_s: seconds per byte at a leaf switch. */
struct path {
    const struct link_model *link;
    double delay_s;
    double *sending_s, *receiving_s;
    double *up_s, *down_s, leaf_beta_s;
};

/* Adds the leaf switches of two hosts to the path. Adds nothing if both hosts share a leaf or there
 * are no leaves. */
static void path_add_leaves(struct path *path, struct clock_sweep *w, int own, int other)
{
    const struct sweep_machine *m = &w->machine;
    if (m->leaf_hosts == 0 || own / m->leaf_hosts == other / m->leaf_hosts)
        return;
    path->up_s = &w->sending_s[w->ranks + w->hosts + own / m->leaf_hosts];
    path->down_s = &w->receiving_s[w->ranks + w->hosts + other / m->leaf_hosts];
    path->leaf_beta_s = m->network.beta_s / m->leaf_spines;
}

static struct path path_of(struct clock_sweep *w, int from, int to)
{
    const struct sweep_machine *m = &w->machine;
    int own = node_of_rank(&m->hosts, from), other = node_of_rank(&m->hosts, to);
    if (own == other)
        return (struct path){.link = &m->memory,
                             .sending_s = &w->sending_s[from],
                             .receiving_s = &w->receiving_s[to]};
    struct path path = {
        .link = &m->network, .delay_s = m->delay_s, .sending_s = &w->sending_s[w->ranks + own]};
    if (!m->receives_freely)
        path.receiving_s = &w->receiving_s[w->ranks + other];
    path_add_leaves(&path, w, own, other);
    return path;
}

/* Returns the start time of a transfer that is ready at `begin` and takes `occupied` seconds.
 * Delays the start so that the transfer does not end before the leaf switch has forwarded all
 * bytes. Sets *leaf_s to the time at which the switch has forwarded them. If leaf_s is NULL (both
 * ranks are on one leaf switch, or there are no leaf switches), returns `begin`. */
static double start_at_leaf(double *leaf_s, const struct path *path, double begin, double occupied,
                            size_t bytes)
{
    if (leaf_s == NULL)
        return begin;
    *leaf_s = later(*leaf_s, begin) + (double)bytes * path->leaf_beta_s;
    return later(begin, *leaf_s - occupied);
}

static double occupied_s(const struct link_model *link, double pace, size_t messages, size_t bytes)
{
    return pace * ((double)messages * link->alpha_s + (double)bytes * link->beta_s);
}

const double link_percentiles[LINK_PACES] = {0, 25, 50, 75, 90, 99, 100};

const char *link_pace_name(char name[LINK_PACE_NAME], int percentile)
{
    snprintf(name, LINK_PACE_NAME, "pace_%g", link_percentiles[percentile]);
    return name;
}

double link_pace(const struct link_model *link, double u)
{
    const double *percentiles = link_percentiles;
    int i = 1;
    if (link->paces[LINK_PACES - 1] == 0)
        return 1;
    while (i < LINK_PACES - 1 && 100 * u > percentiles[i])
        i++;
    double share = (100 * u - percentiles[i - 1]) / (percentiles[i] - percentiles[i - 1]);
    return link->paces[i - 1] + share * (link->paces[i] - link->paces[i - 1]);
}

static double draw_pace(struct clock_sweep *w, const struct link_model *link)
{
    uint64_t n = w->paces_drawn++;
    if (w->seed == 0)
        return 1;
    return link_pace(link, rng_unit(rng_word(w->seed, RNG_STREAM(RNG_STRAGGLER, 1),
                                             (uint32_t)(n >> 32), (uint32_t)n, 0)));
}

/* ---- Messages of a round ---- */

/* Returns the time of a rank's first MPI call at `time_s` or later. After its last call the rank
 * only waits within MPI, so the result is `time_s`. */
static double next_call_s(const struct clock_sweep *w, int rank, double time_s)
{
    for (size_t i = 0; i < w->n_calls; i++) {
        double call_s = w->begins_s[rank] + w->paces[rank] * w->calls_s[i];
        if (call_s >= time_s)
            return call_s;
    }
    return time_s;
}

/* Returns when the model starts a message that is ready at `begin`. A real rank sends the bytes
 * that fit into the socket buffer at once, and the rest only from its next MPI call on. The model
 * cannot pause a message. It delays the start instead: the link finishes the buffered bytes at that
 * call or later. */
static double start_in_socket(const struct clock_sweep *w, int rank, double begin, size_t bytes)
{
    const struct sweep_machine *m = &w->machine;
    if (w->n_calls == 0 || (double)bytes <= m->socket_bytes)
        return begin;
    double call_s = next_call_s(w, rank, nextafter(begin, INFINITY));
    return later(begin, call_s - m->socket_bytes * m->network.beta_s);
}

/* Returns the size of the token bucket of a path's sending interface, as the time (s) in which the
 * link carries that many bytes; 0 within a host. */
static double burst_of(const struct clock_sweep *w, const struct path *path)
{
    return path->link == &w->machine.network ? w->machine.burst_s : 0;
}

/* Starts all sends of a rank in a round. Returns the time at which the last send ends. If the
 * interface allows bursts, each message leaves burst_s earlier than without bursts, but the
 * interface is busy until the same time. */
static double send_all(struct clock_sweep *w, const struct operation *op, int rank)
{
    const struct round *r = &w->rounds[rank];
    const struct schedule *s = &w->schedules[rank];
    double ready = op->rule->posted ? w->start_s[rank] : next_call_s(w, rank, w->clock_s[rank]);
    double sent = ready;
    for (int k = 0; k < r->n_sends; k++) {
        const struct transfer *t = &r->sends[k];
        struct path path = path_of(w, rank, t->rank);
        size_t bytes = t->count * op->width;
        double pace = w->pace[rank * ROUND_TRANSFERS + k] = draw_pace(w, path.link);
        double occupied = occupied_s(path.link, pace, schedule_messages(s, t->count), bytes);
        double begin =
            start_at_leaf(path.up_s, &path, later(ready, *path.sending_s), occupied, bytes);
        if (path.link == &w->machine.network)
            begin = start_in_socket(w, rank, begin, bytes);
        *path.sending_s = begin + occupied;
        w->begin_s[rank * ROUND_TRANSFERS + k] = begin - burst_of(w, &path);
        sent = later(sent, *path.sending_s - burst_of(w, &path));
    }
    w->posts_s[rank] = ready;
    return sent;
}

/* Returns the index in w->begin_s of the send that matches receive i of `rank`. Messages between
 * two ranks arrive in the order in which they were sent. */
static int send_of(const struct clock_sweep *w, int rank, int i)
{
    const struct transfer *receives = w->rounds[rank].receives;
    const struct round *other = &w->rounds[receives[i].rank];
    int skip = 0, k = 0;
    for (int before = 0; before < i; before++)
        skip += receives[before].rank == receives[i].rank;
    while (other->sends[k].rank != rank || skip-- > 0)
        k++;
    return receives[i].rank * ROUND_TRANSFERS + k;
}

/* Returns the time (s) at which a message arrives. The message leaves at leaves_s, but not before
 * its sender posts it (posts_s). It occupies the receiving interface for `occupied` seconds. */
static double arrive(const struct path *path, double leaves_s, double posts_s, double occupied)
{
    double arrives = later(leaves_s, posts_s) + path->delay_s;
    if (path->receiving_s == NULL)
        return arrives;
    return *path->receiving_s = later(*path->receiving_s + occupied, arrives);
}

/* Simulates how a rank receives transfer `i` message by message, from time `clock` on. If the
 * transfer is added to the rank's numbers, each message is added while the next one arrives.
 * Returns the time (s) when the transfer is complete, including such additions. */
static double receive(struct clock_sweep *w, const struct operation *op, int rank, int i,
                      double clock)
{
    const struct transfer *t = &w->rounds[rank].receives[i];
    struct path path = path_of(w, t->rank, rank);
    size_t messages = schedule_messages(&w->schedules[rank], t->count), left = t->count;
    size_t bytes = t->count * op->width;
    int send = send_of(w, rank, i);
    double begin = w->begin_s[send], pace = w->pace[send];
    double leaves = start_at_leaf(path.down_s, &path, begin,
                                  occupied_s(path.link, pace, messages, bytes), bytes);
    double posts = w->machine.burst_s > 0 ? w->posts_s[t->rank] : begin;
    for (size_t m = 0; m < messages; m++) {
        size_t count = m + 1 < messages ? w->schedules[rank].segment : left;
        double occupied = occupied_s(path.link, pace, 1, count * op->width);
        leaves += occupied;
        clock = later(clock, arrive(&path, leaves, posts, occupied)) +
                (t->add ? sweep_add_s(&w->machine, op, count) : 0);
        left -= count;
    }
    return clock;
}

/* ---- Rounds ---- */

/* Makes all ranks meet at a barrier: sets their clocks to the latest clock plus one latency. */
static void meet(struct clock_sweep *w)
{
    double latest = clock_sweep_latest_s(w) + w->machine.memory.alpha_s;
    for (int r = 0; r < w->ranks; r++)
        w->clock_s[r] = latest;
}

/* Returns the group of a rank: its leaf switch, or its host if there are no leaf switches. The
 * ranks of a group share the links of the leaf switch or the interface of the host. */
static int group_of(const struct clock_sweep *w, int rank)
{
    int host = node_of_rank(&w->machine.hosts, rank);
    return w->machine.leaf_hosts > 0 ? host / w->machine.leaf_hosts : host;
}

/* Sorts the ranks of each group by time_s, since the group's interface serves the earliest rank
 * first. Insertion sort is fast, since the order hardly changes between rounds. */
static void sort_ranks(struct clock_sweep *w, const double *time_s)
{
    for (int i = 1; i < w->ranks && w->hosts > 1; i++) {
        int rank = w->order[i], k = i;
        for (; k > 0 && time_s[rank] < time_s[w->order[k - 1]] &&
               group_of(w, rank) == group_of(w, w->order[k - 1]);
             k--)
            w->order[k] = w->order[k - 1];
        w->order[k] = rank;
    }
}

static void send_round(struct clock_sweep *w, const struct operation *op)
{
    sort_ranks(w, op->rule->posted ? w->start_s : w->clock_s);
    for (int k = 0; k < w->ranks; k++)
        w->sent_s[w->order[k]] = send_all(w, op, w->order[k]);
}

static void receive_all(struct clock_sweep *w, const struct operation *op, int rank)
{
    const struct round *r = &w->rounds[rank];
    double clock = w->clock_s[rank];
    for (int k = 0; k < r->n_receives; k++)
        clock = receive(w, op, rank, k, clock);
    w->clock_s[rank] = later(clock, w->sent_s[rank]) + sweep_work_s(&w->machine, op, r);
}

static void receive_round(struct clock_sweep *w, const struct operation *op)
{
    for (int r = 0; r < w->ranks; r++)
        w->leaves_s[r] = w->rounds[r].n_receives > 0 ? w->begin_s[send_of(w, r, 0)] : 0;
    sort_ranks(w, w->leaves_s);
    for (int k = 0; k < w->ranks; k++)
        receive_all(w, op, w->order[k]);
}

static void sweep_round(struct clock_sweep *w, const struct operation *op, int i)
{
    for (int r = 0; r < w->ranks; r++)
        schedule_round(&w->schedules[r], i, &w->rounds[r]);
    if (w->rounds[0].meets)
        meet(w);
    send_round(w, op);
    receive_round(w, op);
}

/* Returns the time at which a rank has the gradients that an operation needs. */
static double ready_at(const struct clock_sweep *w, const struct operation *op, int rank)
{
    double ready = w->ready_s != NULL ? w->ready_s[op->tensor] : 0;
    return w->begins_s != NULL ? w->begins_s[rank] + w->paces[rank] * ready : ready;
}

static void sweep_operation(struct reader *reader, const struct operation *op)
{
    struct clock_sweep *w = (struct clock_sweep *)reader;
    if (op->rule == NULL)
        return;
    for (int r = 0; r < w->ranks; r++) {
        w->schedules[r] = operation_schedule(op, r, w->ranks);
        w->clock_s[r] = later(w->clock_s[r], ready_at(w, op, r));
        w->start_s[r] = w->clock_s[r];
    }
    for (int i = 0; i < schedule_rounds(&w->schedules[0]); i++)
        sweep_round(w, op, i);
}

/* ---- Opening ---- */

struct sweep_machine sweep_machine_of(const struct link_model *memory, int ranks)
{
    return (struct sweep_machine){
        .memory = *memory, .network = *memory, .hosts = {.group = ranks, .ranks = ranks}};
}

static enum status alloc(struct clock_sweep *w, struct error *e)
{
    size_t ranks = (size_t)w->ranks, interfaces = ranks + (size_t)(w->hosts + w->leaves);
    TRY(MEM_NEW(w->clock_s, ranks, "the clocks of a sweep", e));
    TRY(MEM_NEW(w->start_s, ranks, "the clocks of a sweep", e));
    TRY(MEM_NEW(w->sent_s, ranks, "the clocks of a sweep", e));
    TRY(MEM_NEW(w->posts_s, ranks, "the clocks of a sweep", e));
    TRY(MEM_NEW(w->leaves_s, ranks, "the clocks of a sweep", e));
    TRY(MEM_NEW(w->order, ranks, "the ranks of a sweep", e));
    TRY(MEM_NEW(w->schedules, ranks, "the schedules of a sweep", e));
    TRY(MEM_NEW(w->rounds, ranks, "the rounds of a sweep", e));
    TRY(MEM_NEW(w->begin_s, ranks * ROUND_TRANSFERS, "the messages of a sweep", e));
    TRY(MEM_NEW(w->pace, ranks * ROUND_TRANSFERS, "the messages of a sweep", e));
    TRY(MEM_NEW(w->sending_s, interfaces, "the interfaces of a sweep", e));
    return MEM_NEW(w->receiving_s, interfaces, "the interfaces of a sweep", e);
}

/* Fills w->order with all ranks, grouped by group_of. */
static void list_ranks(struct clock_sweep *w)
{
    for (int r = 0; r < w->ranks; r++) {
        int k = r;
        for (; k > 0 && group_of(w, w->order[k - 1]) > group_of(w, r); k--)
            w->order[k] = w->order[k - 1];
        w->order[k] = r;
    }
}

enum status clock_sweep_open(struct clock_sweep *w, const struct sweep_machine *machine, int ranks,
                             struct error *e)
{
    *w = (struct clock_sweep){.reader = {sweep_operation},
                              .machine = *machine,
                              .ranks = ranks,
                              .hosts = node_view_of(&machine->hosts, 0).nodes};
    if (machine->leaf_hosts > 0)
        w->leaves = (w->hosts + machine->leaf_hosts - 1) / machine->leaf_hosts;
    TRY(alloc(w, e));
    list_ranks(w);
    return OK;
}

double clock_sweep_latest_s(const struct clock_sweep *w)
{
    double latest = w->clock_s[0];
    for (int r = 1; r < w->ranks; r++)
        latest = later(latest, w->clock_s[r]);
    return latest;
}

void clock_sweep_close(struct clock_sweep *w)
{
    free(w->clock_s);
    free(w->start_s);
    free(w->sent_s);
    free(w->posts_s);
    free(w->leaves_s);
    free(w->order);
    free(w->schedules);
    free(w->rounds);
    free(w->begin_s);
    free(w->pace);
    free(w->sending_s);
    free(w->receiving_s);
}
