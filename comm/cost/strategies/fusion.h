/* Choice of the tensors that strategy fusion sums in one message. */
#pragma once

#include "comm/cost/strategies/bucketed.h"

/* Returns the next tensors to sum of [first, last), which all ranks have ready, from the last down. They fit into
 * sync.fusion_mib, except that one is always returned. Without cycles it is one tensor. */
struct bucket fusion_next(const struct strategy_config *config, const size_t *counts, size_t last,
                          size_t first, size_t width);

/* Returns the interval at which ranks agree on the tensors that all have ready; 0: they do not agree. */
int64_t fusion_cycle_ns(const struct strategy_config *config);
