/* Buckets of gradients as PyTorch's DistributedDataParallel cuts them: from the last tensor to the
 * first, which is the order in which backward finishes them. A bucket is closed when it has reached
 * its cap, so that tensors overshoot it and none is cut. */
#ifndef SCALEBENCH_COMM_COST_BUCKETS_H
#define SCALEBENCH_COMM_COST_BUCKETS_H

#include "comm/cost/cost.h"

/* Tensors [first, last), `count` numbers; the caps of buckets that follow come from `config`. */
struct bucket {
    size_t first, last, count;
};

/* The first bucket of tensors counts[n], and the one that follows; both have no tensors when none
 * are left. The first has a cap of its own: a small one leaves early. */
struct bucket bucket_first(const size_t *counts, size_t n, size_t width,
                           const struct strategy_config *config);
struct bucket bucket_next(const size_t *counts, size_t width, const struct strategy_config *config,
                          const struct bucket *previous);

/* What stays exposed at best, in the unit of the times, when buckets are summed one after another
 * while backward runs: sum k ends at end_k = max(ready_k, end_(k-1)) + t_k (Shi, Chu and Li,
 * "MG-WFBP", INFOCOM 2019). ready[n]: when backward has finished each tensor, from its begin;
 * backward: when it ends; comm: all sums together, split by how many numbers a bucket has. */
double buckets_exposed(const size_t *counts, const double *ready, size_t n, size_t width,
                       const struct strategy_config *config, double backward, double comm);

/* Tensors before `last`, not below `first`, that fusion sums in one message when all ranks have
 * them: those that fit into fusion_bytes, one at least; one alone where there are no cycles. */
struct bucket fusion_next(const size_t *counts, size_t last, size_t first, size_t width,
                          const struct strategy_config *config);

#endif
