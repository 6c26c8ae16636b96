/* A period of steps, of those after sync.post_local; before, every step costs as much. */
#include "comm/cost/description.h"

static struct cost local_sgd_cost(const struct strategy_config *config, const struct participant *p,
                                  const struct gradient *g)
{
    struct cost c = cost_library_sum(p, CALL_BLOCKING, g->count, g->width);
    c.steps = (uint64_t)config->options[SYNC_period];
    return c;
}

const struct strategy_desc strategy_desc_local_sgd = {.cost = local_sgd_cost};
