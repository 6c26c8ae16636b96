/* The ring's messages: sums of gradients on the first round trip, parameters on the second. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"
#include "comm/cost/strategies/ring.h"

static void zero1_memory(struct sync_memory *m, const struct strategy_config *config,
                         const struct participant *p, const struct gradient *g, int slots)
{
    int own = ring_block(p->rank, p->ranks);
    m->state = (size_t)slots * share_bytes(g->count, own, p->ranks, g->width);
    m->buffers = p->ranks > 1 ? share_bytes(g->count, 0, p->ranks, g->width) : 0;
}

const struct strategy_desc strategy_desc_zero1 = {.schedule = &ring_rule, .memory = zero1_memory};
