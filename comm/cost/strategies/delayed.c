/* The library's non-blocking sum. Its time is hidden where computing a step takes longer. */
#include "comm/cost/description.h"

static struct cost delayed_cost(const struct strategy_config *config, const struct participant *p,
                                const struct gradient *g)
{
    return cost_library_sum(p, CALL_NONBLOCKING, g->count, g->width);
}

const struct strategy_desc strategy_desc_delayed = {.cost = delayed_cost};
