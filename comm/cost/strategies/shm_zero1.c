/* What shm does, and the parameters of the other slices besides. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

static struct cost shm_zero1_cost(const struct strategy_config *config, const struct participant *p,
                                  const struct gradient *g)
{
    struct cost c = strategy_desc_shm.cost(config, p, g);
    size_t own = share_bytes(g->count, p->rank, p->ranks, g->width);
    if (p->model != NULL && p->ranks > 1)
        c.seconds += (double)(g->count * g->width - own) * p->model->beta_s;
    return c;
}

const struct strategy_desc strategy_desc_shm_zero1 = {.cost = shm_zero1_cost};
