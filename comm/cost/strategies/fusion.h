/* Which tensors fusion sums in one message. */
#pragma once

#include "comm/cost/strategies/bucketed.h"

/* Of tensors before `last`, not below `first`, which all ranks have: those that fit into
 * sync.fusion_mib, one at least; one alone where there are no cycles. */
struct bucket fusion_next(const struct strategy_config *config, const size_t *counts, size_t last,
                          size_t first, size_t width);

/* Between two questions which tensors all ranks have; 0: none is asked. */
int64_t fusion_cycle_ns(const struct strategy_config *config);
