/* gossip: every rank runs the optimizer on its own gradient, then averages its weights with the
 * partner of this step (gossip_partner). Sources: Lian et al., "Can decentralized algorithms
 * outperform centralized algorithms?", 2017 (D-PSGD); Boyd et al., "Randomized gossip algorithms",
 * 2006.
 *
 * Costs one message of all weights in each direction per step. Each rank waits for its partner
 * only.
 *
 * After an exchange both partners have the same bits; the mean over all replicas does not change.
 * Momentum and moments are not averaged. Each rank clips its own gradient by that gradient's norm.
 * The evaluated model is the average of all replicas. In a checkpoint each rank keeps its own
 * weights. */
#include "comm/cost/strategies/gossip.h"
#include "comm/strategies/average.h"

struct gossip {
    struct average average;
    real *received; /* [n] weights received from the partner */
};

/* Averages the weights with this step's partner. A rank without a partner also waits, but without
 * messages, since every rank must make the same number of waits. */
static enum status average_with_partner(struct sync *s, uint64_t step, struct error *e)
{
    const struct gossip *g = s->context;
    int partner = gossip_partner(s->rank, s->ranks, step);
    size_t n = s->arenas.n, bytes = n * sizeof(real);
    struct message send = {.data = s->arenas.params, .bytes = bytes, .rank = partner};
    struct message receive = {.data = g->received, .bytes = bytes, .rank = partner};
    const struct exchange x = {.sends = &send,
                               .receives = &receive,
                               .n_sends = partner != s->rank,
                               .n_receives = partner != s->rank,
                               .comm = s->comm,
                               .operation = "exchange of weights with a partner"};
    TRY(sync_exchange(s, &x, e));
    if (partner == s->rank)
        return OK;
    sync_add(s, s->arenas.params, g->received, n);
    sync_scale(s, s->arenas.params, n, (real)0.5);
    return OK;
}

/* Exchanges weights with every other rank once, because the first messages between two ranks are
 * slow. */
static enum status gossip_create(struct sync *s, struct error *e)
{
    struct gossip *g = s->context;
    TRY(arenas_alloc(&s->arenas, e));
    TRY(average_open(s, e));
    TRY(MEM_KEEP(&s->memory, g->received, s->arenas.n, "a partner's weights", e));
    for (uint64_t step = 1; step <= gossip_rounds(s->ranks); step++)
        TRY(average_with_partner(s, step, e));
    return OK;
}

static enum status gossip_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                   double lr, struct error *e)
{
    sync_update_alone(s, o, step, lr);
    return average_with_partner(s, step, e);
}

const struct strategy strategy_gossip = {
    .context_bytes = sizeof(struct gossip),
    .create = gossip_create,
    .step_end = gossip_step_end,
    .eval_begin = average_eval_begin,
    .eval_end = average_eval_end,
};
