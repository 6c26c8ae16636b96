/* Gossip: every rank steps on its own gradient, then averages its weights with those of one
 * partner, another one in every step (pairwise averaging as in D-PSGD: Lian et al., "Can
 * decentralized algorithms outperform centralized algorithms?", 2017; Boyd et al., "Randomized
 * gossip algorithms", 2006). Partners go round: gossip_partner in comm/cost/strategies/gossip.h says who
 * meets whom. Nobody waits for more than one other rank.
 *
 * An exchange leaves both with the same bits, half of the sum, so that it keeps the mean of all
 * replicas. Momentum and moments stay those of the rank; each clips its own gradient by its own
 * norm. The model to evaluate is the average of all replicas; in a checkpoint each rank keeps its
 * own weights. */
#include <stdlib.h>

#include "comm/average.h"
#include "comm/cost/strategies/gossip.h"
#include "comm/local_ops.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

struct gossip {
    struct average average;
    real *theirs; /* [n] the partner's weights */
};

/* A rank that has no partner in this step passes through the same wait. */
static enum status average_with_partner(struct sync *s, uint64_t step, struct error *e)
{
    struct gossip *g = s->context;
    int partner = gossip_partner(s->rank, s->ranks, step);
    size_t n = s->arenas.n, bytes = n * sizeof(real);
    struct message send = {.data = s->arenas.params, .bytes = bytes, .rank = partner};
    struct message receive = {.data = g->theirs, .bytes = bytes, .rank = partner};
    const struct exchange x = {.sends = &send,
                               .receives = &receive,
                               .n_sends = partner != s->rank,
                               .n_receives = partner != s->rank,
                               .comm = s->comm,
                               .operation = "exchange of weights with a partner"};
    sync_comm_begin(s);
    enum status status = wait_exchange(s->waiter, &x, e);
    sync_comm_end(s);
    if (status != OK || partner == s->rank)
        return status;
    int64_t begin_ns = clock_ns();
    local_add(s->exec, s->arenas.params, g->theirs, n);
    local_scale(s->exec, s->arenas.params, n, (real)0.5);
    s->times.pack_ns += clock_ns() - begin_ns;
    return OK;
}

/* Everyone meets everyone before the first step: messages between two ranks that have not spoken
 * are slow. */
static enum status gossip_create(struct sync *s, struct error *e)
{
    struct gossip *g = s->context = calloc(1, sizeof *g);
    if (g == NULL)
        return error_set(e, ERR_MEMORY, "no memory for gossip");
    enum status status = arenas_alloc(&s->arenas, e);
    if (status == OK)
        status = average_open(&g->average, s, e);
    if (status != OK)
        return status;
    g->theirs = mem_alloc(s->arenas.n * sizeof *g->theirs);
    if (g->theirs == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a partner's %zu weights", s->arenas.n);
    for (uint64_t step = 1; step <= gossip_rounds(s->ranks) && status == OK; step++)
        status = average_with_partner(s, step, e);
    return status;
}

static enum status gossip_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                   double lr, struct error *e)
{
    if (o->clip_norm > 0)
        sync_clip_alone(s, o, local_norm2(s->exec, s->arenas.grads, s->arenas.n));
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
    return average_with_partner(s, step, e);
}

static enum status gossip_eval_begin(struct sync *s, struct error *e)
{
    struct gossip *g = s->context;
    return average_begin(&g->average, s, e);
}

static enum status gossip_eval_end(struct sync *s, struct error *e)
{
    const struct gossip *g = s->context;
    (void)e;
    average_end(&g->average, s);
    return OK;
}

static void gossip_destroy(struct sync *s)
{
    struct gossip *g = s->context;
    if (g != NULL) {
        average_close(&g->average);
        mem_free(g->theirs);
        free(g);
    }
    arenas_free(&s->arenas);
}

const struct strategy strategy_gossip = {
    .create = gossip_create,
    .step_end = gossip_step_end,
    .eval_begin = gossip_eval_begin,
    .eval_end = gossip_eval_end,
    .destroy = gossip_destroy,
};
