/* One sum of all, by the library or by a compressor. */
#include "comm/cost/description.h"

static struct cost allreduce_cost(const struct strategy_config *config, const struct participant *p,
                                  const struct gradient *g)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    bool used[ALGORITHMS] = {false};
    add_sum(&c, config, p, g, used);
    if (config->compressor == COMPRESSOR_none)
        c.wire_source = allreduce_source(used);
    return c;
}

const struct strategy_desc strategy_desc_allreduce = {.cost = allreduce_cost};
