#include "comm/cost/compressors/sum16.h"

#include "comm/cost/exchange.h"

void sum16_add(struct cost *c, const struct strategy_config *config, const struct participant *p,
               const struct gradient *g)
{
    add_shares(c, p, g->count, sizeof(uint16_t), false);
    for (int r = 1; r < p->ranks; r++)
        add_reduction(c, p, share_bytes(g->count, p->rank, p->ranks, sizeof(uint16_t)));
    add_shares(c, p, g->count, sizeof(uint16_t), true);
}
