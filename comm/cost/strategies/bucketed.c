/* One sum for each bucket, by a nonblocking call of the library or by a compressor. */
#include "comm/cost/strategies/bucketed.h"

#include <math.h>

#include "comm/cost/description.h"

/* Returns the bucket that ends before tensor `last`. */
static struct bucket fill(const size_t *counts, size_t last, size_t width, size_t cap_bytes)
{
    struct bucket b = {.first = last, .last = last};
    while (b.first > 0 && (b.first == last || b.count * width < cap_bytes))
        b.count += counts[--b.first];
    return b;
}

struct bucket bucket_first(const struct strategy_config *config, const size_t *counts, size_t n,
                           size_t width)
{
    return fill(counts, n, width, sync_option_bytes(config, SYNC_first_cap_mib));
}

struct bucket bucket_next(const struct strategy_config *config, const size_t *counts, size_t width,
                          const struct bucket *previous)
{
    return fill(counts, previous->first, width, sync_option_bytes(config, SYNC_cap_mib));
}

static void bucketed_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    struct strategy_config config = *s->config;
    const struct step step = {&config, g, s->ranks};
    if (config.compressor == COMPRESSOR_none)
        config.calls = CALL_NONBLOCKING;
    struct bucket b = bucket_first(&config, g->counts, g->n, g->width);
    for (; b.first < b.last; b = bucket_next(&config, g->counts, g->width, &b)) {
        const struct gradient part = gradient_part(g, b.first, b.last - b.first);
        give_sum(&step, &part, to);
    }
}

/* Buckets are summed one after another: sum k ends at end_k = max(ready_k, end_(k-1)) + t_k (Shi, Chu and Li,
 * "MG-WFBP", INFOCOM 2019). The time of all sums is split in proportion to their numbers. If a compressor waits for its
 * sums, all of them are exposed. */
static double bucketed_exposed(const struct strategy_config *config, const struct gradient *g,
                               const double *ready, double backward, double comm)
{
    double end = 0;
    if (config->compressor != COMPRESSOR_none &&
        !(compressor_flags(config->compressor) & COMPRESSOR_OVERLAPS))
        return comm;
    struct bucket b = bucket_first(config, g->counts, g->n, g->width);
    for (; b.first < b.last; b = bucket_next(config, g->counts, g->width, &b))
        end = fmax(ready[b.first], end) + comm * (double)b.count / (double)g->count;
    return fmax(end - backward, 0);
}

const struct strategy_desc strategy_desc_bucketed = {
    .program = bucketed_program,
    .exposed = bucketed_exposed,
};
