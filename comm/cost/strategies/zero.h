/* Blocks of tensors in stages 2 and 3 of ZeRO, from the last tensor to the first. Each rank owns a
 * share of each block. Shares differ by at most one number, and may end within a tensor. */
#pragma once

#include <stdbool.h>

#include "comm/cost/strategies/bucketed.h"

/* Maximum number of blocks of gradients in transit at the same time. */
enum { ZERO_FLIGHTS = 2 };

struct zero_block {
    struct bucket tensors;
    bool is_whole; /* the block's parameters stay whole on every rank */
};

/* Returns the block that ends before tensor `last`; empty if `last` is 0. As with buckets, a block
 * is complete when it reaches sync.cap_mib, or sync.first_cap_mib for the first block. `gathers`
 * (stage 3): a tensor of more than sync.zero_persist numbers is a block of its own, with sharded
 * parameters. */
struct zero_block zero_block_before(const struct strategy_config *config, bool gathers,
                                    const size_t *counts, size_t n, size_t last, size_t width);

/* Properties of a ZeRO implementation that determine its memory. */
struct zero_way {
    bool ahead;    /* the next block's parameters arrive while a block is in use */
    bool receives; /* received gradients need buffers */
    size_t kept;   /* number of gradient blocks kept while backward writes another */
};
enum { ZERO_KEPT_MOST = ZERO_FLIGHTS + 1 };

struct step;
/* Converts *m, the memory of a rank that shards nothing, to the memory of `rank` in ZeRO stage 2 or
 * 3. `way`: properties of the ZeRO implementation. */
void zero_memory(struct sync_memory *m, const struct step *s, int rank, int slots,
                 const struct zero_way *way);
