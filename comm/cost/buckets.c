#include "comm/cost/buckets.h"

#include <math.h>

/* The bucket that ends before tensor `last`. */
static struct bucket fill(const size_t *counts, size_t last, size_t width, size_t cap_bytes)
{
    struct bucket b = {.first = last, .last = last};
    while (b.first > 0 && (b.first == last || b.count * width < cap_bytes))
        b.count += counts[--b.first];
    return b;
}

struct bucket bucket_first(const size_t *counts, size_t n, size_t width,
                           const struct strategy_config *config)
{
    return fill(counts, n, width, config->first_cap_bytes);
}

struct bucket bucket_next(const size_t *counts, size_t width, const struct strategy_config *config,
                          const struct bucket *previous)
{
    return fill(counts, previous->first, width, config->cap_bytes);
}

double buckets_exposed(const size_t *counts, const double *ready, size_t n, size_t width,
                       const struct strategy_config *config, double backward, double comm)
{
    double all = 0, end = 0;
    for (size_t i = 0; i < n; i++)
        all += (double)counts[i];
    for (struct bucket b = bucket_first(counts, n, width, config); b.first < b.last;
         b = bucket_next(counts, width, config, &b))
        end = fmax(ready[b.first], end) + comm * (double)b.count / all;
    return fmax(end - backward, 0);
}

struct bucket fusion_next(const size_t *counts, size_t last, size_t first, size_t width,
                          const struct strategy_config *config)
{
    struct bucket b = {.first = last, .last = last};
    size_t most = config->cycle_ns > 0 ? config->fusion_bytes : 0;
    while (b.first > first && (b.first == last || (b.count + counts[b.first - 1]) * width <= most))
        b.count += counts[--b.first];
    return b;
}
