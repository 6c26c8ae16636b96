/* Buckets of gradients as PyTorch's DistributedDataParallel cuts them: from the last tensor to the
 * first, which is the order in which backward finishes them. A bucket is closed when it has reached
 * its cap, so that tensors overshoot it and none is cut. */
#pragma once

#include "comm/cost/cost.h"

/* Tensors [first, last), `count` numbers. */
struct bucket {
    size_t first, last, count;
};

/* The first bucket of tensors counts[n], and the one that follows, closed at sync.first_cap_mib and
 * sync.cap_mib; both have no tensors when none are left. */
struct bucket bucket_first(const struct strategy_config *config, const size_t *counts, size_t n,
                           size_t width);
struct bucket bucket_next(const struct strategy_config *config, const size_t *counts, size_t width,
                          const struct bucket *previous);
