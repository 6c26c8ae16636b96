/* Gradients are summed by messages of our own, as a schedule says: ring, recursive_doubling,
 * rabenseifner, tree, fixed_order, hierarchical and leader differ in nothing else. Each round is
 * one wait, in which sums run while later segments are still on their way. */
#include <stdlib.h>

#include "comm/cost/schedule.h"
#include "comm/nodes.h"
#include "comm/strategy.h"
#include "kernels/base/mem.h"

/* Messages between two ranks that have not spoken are slow: one sum of zeroes opens the ways. */
#define WARM_CALLS 1

struct buffers {
    struct schedule schedule;
    int *node_of;                     /* [ranks], of schedules that know of nodes, or NULL */
    real *received;                   /* what is to be added, of one round */
    struct message *sends, *receives; /* of one round */
    struct addition *additions;       /* one for each of receives */
};

/* What becomes of a received message. */
struct addition {
    real *to; /* NULL: it lies where it belongs */
    const real *from;
    size_t count;
};

/* ---- One round ---- */

static void add_send(const struct sync *s, struct exchange *x, const struct transfer *t,
                     size_t first, size_t count)
{
    x->sends[x->n_sends++] = (struct message){
        .data = s->arenas.grads + first, .bytes = count * sizeof(real), .rank = t->rank};
}

/* `*used` numbers of the buffer are taken. */
static void add_receive(const struct sync *s, struct exchange *x, const struct transfer *t,
                        size_t first, size_t count, size_t *used)
{
    struct buffers *b = s->context;
    real *own = s->arenas.grads + first, *to = own;
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

/* Cuts a transfer into messages. */
static void cut(const struct sync *s, struct exchange *x, const struct transfer *t, bool is_send,
                size_t *used)
{
    const struct buffers *b = s->context;
    for (size_t done = 0; done < t->count; done += b->schedule.segment) {
        size_t left = t->count - done;
        size_t count = left < b->schedule.segment ? left : b->schedule.segment;
        if (is_send)
            add_send(s, x, t, t->first + done, count);
        else
            add_receive(s, x, t, t->first + done, count, used);
    }
}

static void add_arrived(void *arg, int i)
{
    struct sync *s = arg;
    const struct buffers *b = s->context;
    const struct addition *a = &b->additions[i];
    if (a->to == NULL)
        return;
    sync_comm_end(s);
    sync_add(s, a->to, a->from, a->count);
    sync_comm_begin(s);
}

static enum status run_round(struct sync *s, int i, struct error *e)
{
    struct buffers *b = s->context;
    struct round round;
    struct exchange x = {.sends = b->sends,
                         .receives = b->receives,
                         .comm = s->comm,
                         .operation = strategy_names()[s->kind],
                         .arrived = add_arrived,
                         .arg = s};
    size_t used = 0;
    schedule_round(&b->schedule, i, &round);
    for (int k = 0; k < round.n_sends; k++)
        cut(s, &x, &round.sends[k], true, NULL);
    for (int k = 0; k < round.n_receives; k++)
        cut(s, &x, &round.receives[k], false, &used);
    sync_comm_begin(s);
    enum status status = wait_exchange(s->waiter, &x, e);
    sync_comm_end(s);
    return status;
}

static enum status sum_gradients(struct sync *s, struct error *e)
{
    const struct buffers *b = s->context;
    enum status status = OK;
    for (int i = 0; i < schedule_rounds(&b->schedule) && status == OK; i++)
        status = run_round(s, i, e);
    return status;
}

/* ---- Hooks ---- */

/* The most that any round asks for. */
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

/* The machine's nodes, unless the configuration has some of its own. */
static enum status find_nodes(struct sync *s, struct error *e)
{
    struct buffers *b = s->context = calloc(1, sizeof *b);
    if (b == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a schedule of messages");
    if (!strategy_schedule(s->kind)->knows_nodes || s->config.options[SYNC_node_ranks] > 0)
        return OK;
    enum status status = nodes_find(s, &b->node_of, e);
    s->config.node_of = b->node_of;
    return status;
}

static enum status alloc_buffers(struct sync *s, struct error *e)
{
    struct buffers *b = s->context;
    b->schedule = schedule_of(strategy_schedule(s->kind), &s->config, s->rank, s->ranks,
                              s->arenas.n, sizeof(real));
    struct need need = find_need(&b->schedule);
    b->received = mem_alloc(need.received * sizeof *b->received);
    b->sends = calloc(need.sends + 1, sizeof *b->sends);
    b->receives = calloc(need.receives + 1, sizeof *b->receives);
    b->additions = calloc(need.receives + 1, sizeof *b->additions);
    if (b->received == NULL || b->sends == NULL || b->receives == NULL || b->additions == NULL)
        return error_set(e, ERR_MEMORY, "no memory to receive %zu numbers in %zu messages",
                         need.received, need.receives);
    return OK;
}

static enum status point_to_point_create(struct sync *s, struct error *e)
{
    enum status status = arenas_alloc(&s->arenas, e);
    if (status == OK)
        status = find_nodes(s, e);
    if (status == OK)
        status = alloc_buffers(s, e);
    for (int i = 0; status == OK && i < WARM_CALLS; i++)
        status = sum_gradients(s, e);
    return status;
}

static enum status point_to_point_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                           double lr, struct error *e)
{
    enum status status = sum_gradients(s, e);
    return status == OK ? sync_update(s, o, step, lr, e) : status;
}

static void point_to_point_destroy(struct sync *s)
{
    struct buffers *b = s->context;
    if (b != NULL) {
        free(b->node_of);
        mem_free(b->received);
        free(b->sends);
        free(b->receives);
        free(b->additions);
        free(b);
    }
    arenas_free(&s->arenas);
}

#define HOOKS                                                                                      \
    {                                                                                              \
        .create = point_to_point_create, .step_end = point_to_point_step_end,                      \
        .destroy = point_to_point_destroy,                                                         \
    }

const struct strategy strategy_ring = HOOKS;
const struct strategy strategy_recursive_doubling = HOOKS;
const struct strategy strategy_rabenseifner = HOOKS;
const struct strategy strategy_tree = HOOKS;
const struct strategy strategy_fixed_order = HOOKS;
const struct strategy strategy_hierarchical = HOOKS;
const struct strategy strategy_leader = HOOKS;
