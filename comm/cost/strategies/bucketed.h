/* Buckets of gradients as in PyTorch's DistributedDataParallel. Tensors are added from the last to
 * the first. A bucket is closed once it reaches its cap, and can exceed it, since tensors are never
 * cut. */
#pragma once

#include "comm/cost/cost.h"

/* Tensors [first, last), which have `count` numbers together. */
struct bucket {
    size_t first, last, count;
};

/* Return the first bucket, and the bucket after *previous. A bucket takes tensors until its size
 * reaches sync.first_cap_mib (first bucket) or sync.cap_mib. It is empty if no tensors are left. */
struct bucket bucket_first(const struct strategy_config *config, const size_t *counts, size_t n,
                           size_t width);
struct bucket bucket_next(const struct strategy_config *config, const size_t *counts, size_t width,
                          const struct bucket *previous);
