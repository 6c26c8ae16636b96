/* Choice of the tensors that strategy fusion sums in one call. */
#pragma once

#include "comm/cost/strategies/bucketed.h"

/* Returns the tensors to sum next, from the end of tensors [first, last), which must all be ready
 * on all ranks: as many as fit into sync.fusion_mib, but at least one. If sync.cycle_ms is 0, one
 * tensor is returned. */
struct bucket fusion_next(const struct strategy_config *config, const size_t *counts, size_t last,
                          size_t first, size_t width);

/* Returns the interval (ns) at which ranks agree on the tensors that are ready on all ranks; 0:
 * every tensor is summed alone, without agreement. */
int64_t fusion_cycle_ns(const struct strategy_config *config);
