/* What a compressed sum costs a rank. Messages are the compressors' own, so that they can be
 * counted. Internal to comm/cost. */
#ifndef SCALEBENCH_COMM_COST_COMPRESS_H
#define SCALEBENCH_COMM_COST_COMPRESS_H

#include "comm/cost/collectives.h"

/* Adds one sum of n tensors, counts[n] numbers of `width` bytes, by config->compressor, which is not
 * `none`; rows[n] or NULL as in struct strategy_config. Sets the source of what is sent. */
void add_compressed(struct cost *c, const struct strategy_config *config, const struct party *p,
                    const size_t *counts, const size_t *rows, size_t n, size_t width);

#endif
