/* A block of tensors of which every rank owns an equal share, as stages 2 and 3 of ZeRO cut the arenas
 * (comm/cost/strategies/zero.h), whichever way shares go from rank to rank. */
#pragma once

#include "comm/compress.h"

struct owned_block {
    struct range tensors;
    size_t begin, count; /* numbers of an arena */
    bool is_whole;       /* its parameters stay on every rank */
    bool is_here;        /* those of others are here, or on their way */
};

/* The block that ends before tensor `last`; `gathers`: of stage 3. Its parameters are here. */
struct owned_block owned_block_before(const struct sync *s, bool gathers, size_t last);

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank);
bool owned_block_overlaps(const struct owned_block *b, struct range tensors);

/* Of others' shares in an arena of this rank, by mem_give_back or mem_give_back_shared. */
void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           void (*give_back)(void *memory, size_t bytes));

/* Optimizer state for all numbers, so that an index means the same everywhere, of which memory takes pages for this
 * rank's shares [n] alone: what was never written takes none. Freed with the arenas. */
enum status owned_state_open(struct sync *s, const struct span *shares, size_t n, struct error *e);
/* Brings a block of one slot of it together at rank 0; `room` is for [ranks] messages. Collective. */
enum status owned_block_to_root(const struct sync *s, const struct owned_block *b, real *slot,
                                struct message *room, struct error *e);

/* Sum of squares of this rank's shares [n] of the gradients. */
double owned_norm2(const struct sync *s, const struct span *shares, size_t n);
