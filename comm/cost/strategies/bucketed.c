/* Sums each bucket by a nonblocking call of the MPI library or by a compressor. */
#include "comm/cost/strategies/bucketed.h"

#include "comm/cost/description.h"

/* Returns the bucket whose final tensor is `last` - 1. The bucket is empty if `last` is 0. */
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

/* Reader that passes a bucket's operations to reader `to`, with their `tensor` set to `first`.
 * `first`: the bucket's first tensor, whose gradient is the last to be ready; 0: the operations
 * start after backward. */
struct marker {
    struct reader reader;
    struct reader *to;
    size_t first;
};

static void mark(struct reader *reader, const struct operation *op)
{
    const struct marker *m = (const struct marker *)reader;
    struct operation marked = *op;
    marked.tensor = m->first;
    reader_give(m->to, marked);
}

/* Returns whether sums start during backward. A compressor prevents this unless it has the flag
 * COMPRESSOR_OVERLAPS. */
static bool begins_early(const struct strategy_config *config)
{
    return config->compressor == COMPRESSOR_none ||
           (compressor_flags(config->compressor) & COMPRESSOR_OVERLAPS) != 0;
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
        struct marker marker = {{mark}, to, begins_early(&config) ? b.first : 0};
        give_sum(&step, &part, &marker.reader);
    }
}

const struct strategy_desc strategy_desc_bucketed = {
    .program = bucketed_program,
    .overlaps = true,
};
