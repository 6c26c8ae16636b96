/* Tensor by tensor rank 0 gathers what it adds up, and hands out the sum. */
#include "comm/cost/description.h"

/* The root exchanges a message with everyone, the others with the root. */
static struct cost cost_linear(const struct participant *p, const struct gradient *g)
{
    struct cost c = {0};
    int others = p->rank == 0 ? p->ranks - 1 : 1;
    for (size_t i = 0; i < g->n; i++) {
        size_t bytes = g->counts[i] * g->width;
        add_calls(&c, 2 * (size_t)others, bytes);
        for (int k = 0; k < others; k++) {
            add_receipt(&c, p, bytes);
            add_message(&c, p, bytes);
            if (p->rank == 0)
                add_reduction(&c, p, bytes);
        }
    }
    return c;
}

static struct cost cost_mpich(const struct participant *p, const struct gradient *g)
{
    struct cost c = {.wire_source = "formula: binomial, binomial"};
    for (size_t i = 0; i < g->n; i++) {
        size_t bytes = g->counts[i] * g->width;
        add_calls(&c, 2, bytes);
        add_gather(&c, p, bytes);
        if (p->rank == 0)
            add_reduction(&c, p, bytes * (size_t)(p->ranks - 1));
        add_scatter(&c, p, bytes);
    }
    return c;
}

static struct cost gather_scatter_cost(const struct strategy_config *config,
                                       const struct participant *p, const struct gradient *g)
{
    return config->variant == VARIANT_gather_scatter_mpich ? cost_mpich(p, g) : cost_linear(p, g);
}

const struct strategy_desc strategy_desc_gather_scatter = {.cost = gather_scatter_cost};
