/* A period of steps, of those after sync.post_local; before, every step costs as much. */
#include "comm/cost/description.h"

static struct cost local_sgd_cost(const struct strategy_config *config, const struct participant *p,
                                  const struct gradient *g)
{
    struct cost c = {.steps = (uint64_t)config->options[SYNC_period]};
    add_allreduce_call(&c, p, config->calls, ALGORITHM_auto, g->count, g->width);
    return c;
}

/* Of the first `n` steps: all that average gradients, then the last of each period. */
static uint64_t sums_of(const struct strategy_config *config, uint64_t n)
{
    uint64_t post_local = (uint64_t)config->options[SYNC_post_local];
    uint64_t period = (uint64_t)config->options[SYNC_period];
    return n <= post_local ? n : post_local + (n - post_local) / period;
}

static uint64_t local_sgd_times(const struct strategy_config *config, uint64_t first, uint64_t n)
{
    return sums_of(config, first + n - 1) - sums_of(config, first - 1);
}

const struct strategy_desc strategy_desc_local_sgd = {.cost = local_sgd_cost,
                                                      .times = local_sgd_times};
