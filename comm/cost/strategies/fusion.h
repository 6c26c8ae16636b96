/* Choice of the tensors that strategy fusion sums in one message. */
#pragma once

#include "comm/cost/strategies/bucketed.h"

/* Returns the tensors to sum next, from the last of [first, last) down; all ranks have these ready.
 * They fit into sync.fusion_mib, but a larger tensor is returned alone. Without cycles every tensor
 * is returned alone. */
struct bucket fusion_next(const struct strategy_config *config, const size_t *counts, size_t last,
                          size_t first, size_t width);

/* Returns the interval at which ranks agree on the tensors that all have ready; 0: they never
 * agree. */
int64_t fusion_cycle_ns(const struct strategy_config *config);
