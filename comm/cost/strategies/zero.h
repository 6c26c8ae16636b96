/* How stages 2 and 3 of ZeRO cut the arenas: into blocks of whole tensors, from the last to the first, which
 * is the order in which backward finishes them. Every rank has an equal share of each block, cut wherever
 * that ends: sizes need not be multiples of anything. */
#pragma once

#include <stdbool.h>

#include "comm/cost/strategies/bucketed.h"

/* Blocks of gradients that are on their way at the same time. */
enum { ZERO_FLIGHTS = 2 };

struct zero_block {
    struct bucket tensors;
    bool is_whole; /* its parameters stay on every rank */
};

/* The block that ends before tensor `last` of counts[n]; without tensors when last is 0. Closed at
 * sync.first_cap_mib and sync.cap_mib, as buckets are. Where parameters are gathered (stage 3) a tensor of
 * more than sync.zero_persist numbers is a block by itself, and is not whole. */
struct zero_block zero_block_before(const struct strategy_config *config, bool gathers,
                                    const size_t *counts, size_t n, size_t last, size_t width);

/* How a rank holds blocks while they go from rank to rank. */
struct zero_way {
    bool ahead;    /* parameters of the next block come while one is used */
    bool receives; /* shares of gradients come into buffers */
    size_t kept;   /* blocks of gradients that are there while backward writes another */
};
enum { ZERO_KEPT_MOST = ZERO_FLIGHTS + 1 };

/* As strategy_memory. */
struct step;
void zero_memory(struct sync_memory *m, const struct step *s, int rank, int slots,
                 const struct zero_way *way);
