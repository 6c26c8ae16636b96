/* Measures messages within and between nodes. Pairs of nodes are formed as in a round-robin
 * tournament: in each slot, a node has one partner at most. */
#include <math.h>
#include <stdlib.h>

#include "bench/doctor/facts.h"
#include "bench/place/place.h"
#include "bench/workloads/doctor/doctor.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"

enum { PINGS = 20, FIRST_PART = 4, WITHIN = 0, BETWEEN = 1 };

/* Size of a trial message (bytes), and bounds of the message size that is chosen from the trial. */
#define TRIAL_BYTES ((size_t)2 << 20)
#define BYTES_MIN   ((size_t)128 << 10)
#define BYTES_MAX   ((size_t)64 << 20)

/* ---- One direction ---- */

/* Sending rank, receiving rank and size of a message. */
struct way {
    int from, to;
    size_t bytes;
};

static enum status send_to(struct doctor *d, int rank, size_t bytes, struct error *e)
{
    struct message m = {.data = d->buffer, .bytes = bytes, .rank = rank};
    return wait_send(&d->waiter, &m, 1, MPI_COMM_WORLD, "messages of a pair", e);
}

static enum status receive_from(struct doctor *d, int rank, size_t bytes, struct error *e)
{
    struct message m = {.data = d->buffer, .bytes = bytes, .rank = rank};
    return wait_receive(&d->waiter, &m, 1, MPI_COMM_WORLD, "messages of a pair", e);
}

static enum status answer(struct doctor *d, const struct way *w, struct error *e)
{
    for (int i = 0; i < PINGS; i++) {
        TRY(receive_from(d, w->from, 8, e));
        TRY(send_to(d, w->from, 8, e));
    }
    TRY(receive_from(d, w->from, w->bytes / FIRST_PART, e));
    TRY(send_to(d, w->from, 8, e));
    TRY(receive_from(d, w->from, w->bytes, e));
    return send_to(d, w->from, 8, e);
}

/* Measures latency with short messages, then bandwidth with a long message and an 8-byte reply. A
 * warm-up message before the long one uses up the burst that traffic shaping permits after a pause,
 * and lets the transport's windows grow. */
static enum status ask(struct doctor *d, const struct way *w, struct doctor_message *row,
                       struct error *e)
{
    double us[PINGS];
    struct counted before[COUNTED_MAX], after[COUNTED_MAX];
    for (int i = 0; i < PINGS; i++) {
        int64_t begin_ns = clock_ns();
        TRY(send_to(d, w->to, 8, e));
        TRY(receive_from(d, w->to, 8, e));
        us[i] = 1e6 * clock_seconds_since(begin_ns) / 2;
    }
    TRY(send_to(d, w->to, w->bytes / FIRST_PART, e));
    TRY(receive_from(d, w->to, 8, e));
    int n_before = facts_count_sent(before, "");
    int64_t begin_ns = clock_ns();
    TRY(send_to(d, w->to, w->bytes, e));
    TRY(receive_from(d, w->to, 8, e));
    double seconds = clock_seconds_since(begin_ns);
    int n_after = facts_count_sent(after, "");
    row->latency_us = stats_median(us, PINGS);
    row->message_bytes = (double)w->bytes;
    row->gbyte_per_s = 1e-9 * (double)w->bytes / (seconds - 1e-6 * row->latency_us);
    snprintf(row->interface, DOCTOR_TEXT, "%s",
             facts_carrier(before, n_before, after, n_after, (double)w->bytes));
    return OK;
}

static enum status measure_way(struct doctor *d, const struct way *w, int round, struct error *e)
{
    if (d->rank == w->to)
        return answer(d, w, e);
    if (d->rank != w->from)
        return OK;
    TRY(MEM_GROW(d->messages, d->n_messages, "messages", e));
    struct doctor_message *row = &d->messages[d->n_messages++];
    doctor_clear(&doctor_messages, row);
    row->from_node = d->node_of[w->from];
    row->to_node = d->node_of[w->to];
    row->round = round;
    return ask(d, w, row, e);
}

/* ---- Tournament ---- */

/* Returns a node's partner in a slot of the tournament (circle method); -1 if the node has no
 * partner. */
static int partner_of(int node, int slot, int nodes)
{
    int n = nodes + nodes % 2, last = n - 1, partner;
    if (node == last)
        partner = (slot * (n / 2)) % last;
    else
        partner = (slot - node % last + 2 * last) % last;
    if (node != last && partner == node)
        partner = last;
    return partner < nodes ? partner : -1;
}

/* Measures one direction between two nodes. If nodes share a machine, sender and receiver move to
 * the processors in d->ends, so that all pairs have the same conditions. */
static enum status measure_between(struct doctor *d, const struct way *w, int round,
                                   struct error *e)
{
    if (d->n_turns == 1 || (d->rank != w->from && d->rank != w->to))
        return measure_way(d, w, round, e);
    TRY(place_bind_self(d->ends[d->rank == w->to], e));
    TRY(measure_way(d, w, round, e));
    return place_bind_self(d->cpus, e);
}

static enum status measure_pair(struct doctor *d, int a, int b, int round, struct error *e)
{
    size_t bytes = d->message_bytes[BETWEEN];
    const struct way there = {d->firsts[a], d->firsts[b], bytes};
    const struct way back = {d->firsts[b], d->firsts[a], bytes};
    TRY(measure_between(d, &there, round, e));
    return measure_between(d, &back, round, e);
}

/* Measures all pairs of nodes in a slot of the tournament: at the same time, or one after the other
 * if nodes share a machine. */
static enum status measure_slot(struct doctor *d, int slot, int round, struct error *e)
{
    for (int a = 0; a < d->nodes; a++) {
        int b = partner_of(a, slot, d->nodes);
        if (b < a)
            continue;
        TRY(measure_pair(d, a, b, round, e));
        if (d->n_turns > 1)
            TRY(ranks_synchronise(d, "the next pair", e));
    }
    return ranks_synchronise(d, "the next pairs", e);
}

static enum status measure_node(struct doctor *d, int round, struct error *e)
{
    const struct way within = {d->firsts[d->node], d->lasts[d->node], d->message_bytes[WITHIN]};
    return within.from != within.to ? measure_way(d, &within, round, e) : OK;
}

enum status links_measure(struct doctor *d, int round, struct error *e)
{
    for (int turn = 0; turn < d->n_turns; turn++) {
        if (turn == d->turns[d->node])
            TRY(measure_node(d, round, e));
        TRY(ranks_synchronise(d, "the next node", e));
    }
    for (int slot = 0; d->nodes > 1 && slot < d->nodes + d->nodes % 2 - 1; slot++)
        TRY(measure_slot(d, slot, round, e));
    return OK;
}

/* ---- Message sizes ---- */

/* Chooses the message sizes within nodes and between nodes. Each depends on the fastest link of its
 * kind, so that one slow link does not make all messages short. */
static enum status choose_bytes(struct doctor *d, struct error *e)
{
    double rates[2] = {0, 0};
    for (size_t i = 0; i < d->n_messages; i++) {
        const struct doctor_message *m = &d->messages[i];
        int kind = m->from_node != m->to_node ? BETWEEN : WITHIN;
        rates[kind] = fmax(rates[kind], 1e9 * m->gbyte_per_s);
    }
    TRY(wait_allreduce(&d->waiter, rates, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                       "rates of a first round", e));
    for (int kind = 0; kind < 2; kind++) {
        double bytes = fmin(fmax(rates[kind] * d->message_s, (double)BYTES_MIN), (double)BYTES_MAX);
        d->message_bytes[kind] = (size_t)bytes / 4096 * 4096;
    }
    d->n_messages = 0;
    return OK;
}

static enum status make_buffer(struct doctor *d, struct error *e)
{
    size_t bytes = TRIAL_BYTES;
    for (int kind = 0; kind < 2; kind++)
        bytes = d->message_bytes[kind] > bytes ? d->message_bytes[kind] : bytes;
    mem_free(d->buffer);
    return MEM_NEW_ALIGNED(d->buffer, bytes, "messages", e);
}

enum status links_open(struct doctor *d, struct error *e)
{
    d->message_bytes[WITHIN] = d->message_bytes[BETWEEN] = TRIAL_BYTES;
    TRY(make_buffer(d, e));
    TRY(links_measure(d, 0, e));
    TRY(choose_bytes(d, e));
    return make_buffer(d, e);
}
