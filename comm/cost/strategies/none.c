/* Nothing is sent. */
#include "comm/cost/description.h"

static struct cost none_cost(const struct strategy_config *config, const struct participant *p,
                             const struct gradient *g)
{
    return (struct cost){.wire_source = "none"};
}

const struct strategy_desc strategy_desc_none = {.cost = none_cost};
