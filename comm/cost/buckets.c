#include "comm/cost/buckets.h"

/* The bucket that ends before tensor `last`. */
static struct bucket fill(const size_t *counts, size_t last, size_t width, size_t cap_bytes)
{
    struct bucket b = {.first = last, .last = last};
    while (b.first > 0 && (b.first == last || b.count * width < cap_bytes))
        b.count += counts[--b.first];
    return b;
}

struct bucket bucket_first(const size_t *counts, size_t n, size_t width,
                           const struct strategy_form *form)
{
    return fill(counts, n, width, form->first_cap_bytes);
}

struct bucket bucket_next(const size_t *counts, size_t width, const struct strategy_form *form,
                          const struct bucket *previous)
{
    return fill(counts, previous->first, width, form->cap_bytes);
}

struct bucket fusion_next(const size_t *counts, size_t last, size_t first, size_t width,
                          const struct strategy_form *form)
{
    struct bucket b = {.first = last, .last = last};
    size_t most = form->cycle_ns > 0 ? form->fusion_bytes : 0;
    while (b.first > first && (b.first == last || (b.count + counts[b.first - 1]) * width <= most))
        b.count += counts[--b.first];
    return b;
}
