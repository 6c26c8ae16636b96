/* The ring's messages: sums of gradients on the first round trip, parameters on the second. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"
#include "comm/cost/strategies/ring.h"
#include "kernels/base/pool.h"

static void zero1_memory(struct sync_memory *m, const struct strategy_config *config,
                         const struct participant *p, const struct gradient *g, int slots)
{
    size_t begin, end, page = page_of(config);
    pool_share(g->count, (size_t)ring_block(p->rank, p->ranks), (size_t)p->ranks, &begin, &end);
    size_t first = begin * g->width / page * page;
    m->state = (size_t)slots * (whole_pages(config, end * g->width) - first);
    m->buffers = p->ranks > 1 ? share_bytes(g->count, 0, p->ranks, g->width) : 0;
}

const struct strategy_desc strategy_desc_zero1 = {.schedule = &ring_rule, .memory = zero1_memory};
