/* Of a step whose tensors are all ready within one cycle: one question, and full messages. More
 * cycles mean more questions and more messages with the same gradients in them. */
#include "comm/cost/strategies/fusion.h"

#include "comm/cost/description.h"

int64_t fusion_cycle_ns(const struct strategy_config *config)
{
    return (int64_t)(config->options[SYNC_cycle_ms] * 1e6);
}

struct bucket fusion_next(const struct strategy_config *config, const size_t *counts, size_t last,
                          size_t first, size_t width)
{
    struct bucket b = {.first = last, .last = last};
    bool fuses = fusion_cycle_ns(config) > 0;
    size_t most = fuses ? sync_option_bytes(config, SYNC_fusion_mib) : 0;
    while (b.first > first && (b.first == last || (b.count + counts[b.first - 1]) * width <= most))
        b.count += counts[--b.first];
    return b;
}

static struct cost fusion_cost(const struct strategy_config *config, const struct participant *p,
                               const struct gradient *g)
{
    struct cost c = {0};
    if (fusion_cycle_ns(config) > 0)
        add_allreduce_call(&c, p, CALL_NONBLOCKING, config->algorithm, 1, sizeof(int));
    for (struct bucket b = {.first = g->n}; b.first > 0;) {
        b = fusion_next(config, g->counts, b.first, 0, g->width);
        add_allreduce_call(&c, p, CALL_NONBLOCKING, config->algorithm, b.count, g->width);
    }
    return c;
}

const struct strategy_desc strategy_desc_fusion = {.cost = fusion_cost};
