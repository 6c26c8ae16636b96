/* Sends the same messages as strategy ring. Gradients are summed on the first trip around the ring;
 * parameters are distributed on the second trip. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"
#include "comm/cost/strategies/ring.h"
#include "kernels/base/pool.h"

static void zero1_memory(struct sync_memory *m, const struct step *s, int rank, int slots)
{
    const struct gradient *g = s->g;
    size_t begin, end, ranks = (size_t)s->ranks, page = page_of(s->config);
    pool_share(g->count, (size_t)ring_block(rank, s->ranks), ranks, &begin, &end);
    size_t first = begin * g->width / page * page;
    m->state = (size_t)slots * (whole_pages(s->config, end * g->width) - first);
    m->buffers = ranks > 1 ? share_bytes(g->count, 0, s->ranks, g->width) : 0;
}

const struct strategy_desc strategy_desc_zero1 = {.schedule = &ring_rule, .memory = zero1_memory};
