/* ring, recursive_doubling, rabenseifner, tree, fixed_order, hierarchical, leader: sum gradients by
 * point-to-point messages. They differ only in the schedule of messages
 * (comm/cost/strategies/<name>.c). Each round of a schedule is one wait. Received segments are
 * added while later segments are in transit. */
#include "comm/strategies/point_to_point.h"

#include "comm/nodes.h"

/* Addition of one received message to the arena. */
struct addition {
    real *to; /* position in the arena; NULL: nothing to add, since the message was received in
                 place */
    const real *from;
    size_t count;
};

/* ---- One round ---- */

static void add_send(const struct point_to_point *b, struct exchange *x, const struct transfer *t,
                     size_t first, size_t count)
{
    x->sends[x->n_sends++] = (struct message){
        .data = b->numbers + first, .bytes = count * sizeof(real), .rank = t->rank};
}

/* Appends a receive of `count` numbers to the round. Numbers that must be added (t->add) are
 * received at b->received + *used, and *used advances. Others are received in place. */
static void add_receive(const struct point_to_point *b, struct exchange *x,
                        const struct transfer *t, size_t first, size_t count, size_t *used)
{
    real *own = b->numbers + first, *to = own;
    struct addition *addition = &b->additions[x->n_receives];
    *addition = (struct addition){0};
    if (t->add) {
        to = b->received + *used;
        *addition = (struct addition){.to = own, .from = to, .count = count};
        *used += count;
    }
    x->receives[x->n_receives++] =
        (struct message){.data = to, .bytes = count * sizeof(real), .rank = t->rank};
}

static void cut(const struct point_to_point *b, struct exchange *x, const struct transfer *t,
                bool is_send, size_t *used)
{
    for (size_t done = 0; done < t->count; done += b->schedule.segment) {
        size_t left = t->count - done;
        size_t count = left < b->schedule.segment ? left : b->schedule.segment;
        if (is_send)
            add_send(b, x, t, t->first + done, count);
        else
            add_receive(b, x, t, t->first + done, count, used);
    }
}

static void add_arrived(void *arg, int i)
{
    const struct point_to_point *b = arg;
    const struct addition *a = &b->additions[i];
    struct sync *s = b->sync;
    if (a->to == NULL)
        return;
    sync_comm_end(s);
    (b->add != NULL ? b->add : sync_add)(s, a->to, a->from, a->count);
    sync_comm_begin(s);
}

static enum status run_round(struct point_to_point *b, int i, struct error *e)
{
    struct round round;
    struct exchange x = {.sends = b->sends,
                         .receives = b->receives,
                         .comm = b->sync->comm,
                         .operation = strategy_names()[b->sync->kind],
                         .arrived = add_arrived,
                         .arg = b};
    size_t used = 0;
    schedule_round(&b->schedule, i, &round);
    for (int k = 0; k < round.n_sends; k++)
        cut(b, &x, &round.sends[k], true, NULL);
    for (int k = 0; k < round.n_receives; k++)
        cut(b, &x, &round.receives[k], false, &used);
    return sync_exchange(b->sync, &x, e);
}

enum status point_to_point_rounds(struct point_to_point *b, real *numbers, int first, int last,
                                  struct error *e)
{
    b->numbers = numbers;
    for (int i = first; i < last; i++)
        TRY(run_round(b, i, e));
    return OK;
}

/* ---- Hooks ---- */

/* Buffer sizes, each the maximum over all rounds: received numbers that are added, messages sent,
 * messages received. */
struct need {
    size_t received, sends, receives;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct need find_need(const struct schedule *s)
{
    struct need most = {0};
    for (int i = 0; i < schedule_rounds(s); i++) {
        struct round round;
        struct need need = {0};
        schedule_round(s, i, &round);
        for (int k = 0; k < round.n_sends; k++)
            need.sends += schedule_messages(s, round.sends[k].count);
        for (int k = 0; k < round.n_receives; k++) {
            need.receives += schedule_messages(s, round.receives[k].count);
            need.received += round.receives[k].add ? round.receives[k].count : 0;
        }
        most.received = larger(most.received, need.received);
        most.sends = larger(most.sends, need.sends);
        most.receives = larger(most.receives, need.receives);
    }
    return most;
}

/* Finds the node of every rank if the schedule depends on nodes, unless an option sets the number
 * of ranks per node. */
static enum status find_nodes(struct point_to_point *b, struct error *e)
{
    struct sync *s = b->sync;
    if (!strategy_schedule(s->kind)->knows_nodes || s->config.options[SYNC_node_ranks] > 0)
        return OK;
    TRY(MEM_KEEP(&s->memory, b->node_of, (size_t)s->ranks, "the nodes of all ranks", e));
    TRY(nodes_find(s->waiter, s->comm, b->node_of, e));
    s->config.node_of = b->node_of;
    return OK;
}

static enum status alloc_buffers(struct point_to_point *b, struct error *e)
{
    struct sync *s = b->sync;
    b->schedule = schedule_of(strategy_schedule(s->kind), &s->config, s->rank, s->ranks,
                              s->arenas.n, sizeof(real));
    struct need need = find_need(&b->schedule);
    TRY(MEM_KEEP(&s->memory, b->received, need.received, "the gradients of a round", e));
    TRY(MEM_KEEP(&s->memory, b->sends, need.sends, "messages to send", e));
    TRY(MEM_KEEP(&s->memory, b->receives, need.receives, "messages to receive", e));
    return MEM_KEEP(&s->memory, b->additions, need.receives, "sums of received messages", e);
}

enum status point_to_point_sum(struct sync *s, struct error *e)
{
    struct point_to_point *b = s->context;
    return point_to_point_rounds(b, s->arenas.grads, 0, schedule_rounds(&b->schedule), e);
}

/* Opens the executor. Sums zeros once, because the first messages between two ranks are slow. */
enum status point_to_point_open(struct point_to_point *b, struct sync *s, struct error *e)
{
    b->sync = s;
    TRY(find_nodes(b, e));
    TRY(alloc_buffers(b, e));
    return point_to_point_rounds(b, s->arenas.grads, 0, schedule_rounds(&b->schedule), e);
}

static enum status point_to_point_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    return point_to_point_open(s->context, s, e);
}

#define HOOKS                                                                                      \
    {                                                                                              \
        .context_bytes = sizeof(struct point_to_point), .create = point_to_point_create,           \
        .sum_gradients = point_to_point_sum,                                                       \
    }

const struct strategy strategy_ring = HOOKS;
const struct strategy strategy_recursive_doubling = HOOKS;
const struct strategy strategy_rabenseifner = HOOKS;
const struct strategy strategy_tree = HOOKS;
const struct strategy strategy_fixed_order = HOOKS;
const struct strategy strategy_hierarchical = HOOKS;
const struct strategy strategy_leader = HOOKS;
