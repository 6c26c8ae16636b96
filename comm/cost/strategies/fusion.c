/* Models a step in which all tensors are ready within one cycle: ranks agree once on which tensors
 * are ready, and every sum is as large as sync.fusion_mib allows. If sync.cycle_ms is 0, this
 * agreement is left out, and each tensor has its own sum. */
#include "comm/cost/strategies/fusion.h"

#include "comm/cost/description.h"
#include "comm/cost/library.h"

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

static void give_sum_of(const struct step *s, struct reader *to, size_t count, size_t width)
{
    reader_give(to,
                library_allreduce(s->config->algorithm, CALL_NONBLOCKING, s->ranks, count, width));
}

static void fusion_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    if (fusion_cycle_ns(s->config) > 0)
        give_sum_of(s, to, 1, sizeof(int));
    for (struct bucket b = {.first = g->n}; b.first > 0;) {
        b = fusion_next(s->config, g->counts, b.first, 0, g->width);
        give_sum_of(s, to, b.count, g->width);
    }
}

const struct strategy_desc strategy_desc_fusion = {.program = fusion_program};
