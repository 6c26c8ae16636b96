/* Choice of the tensors that strategy fusion sums in one call. */
#pragma once

#include "comm/cost/strategies/bucketed.h"

/* Returns the tensors to sum next, taken from the end of [first, last). All tensors of this range
 * must be ready on all ranks. Returns as many tensors as fit into sync.fusion_mib, but at least
 * one. If sync.cycle_ms is 0, returns one tensor. */
struct bucket fusion_next(const struct strategy_config *config, const size_t *counts, size_t last,
                          size_t first, size_t width);

/* Returns the interval (ns) at which ranks agree on the tensors that are ready on all ranks; 0:
 * every tensor is summed alone, without agreement. */
int64_t fusion_cycle_ns(const struct strategy_config *config);
