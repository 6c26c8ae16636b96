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

/* All of them, and what this rank owns of each. */
struct owned_blocks {
    bool gathers;            /* parameters: stage 3 */
    struct owned_block *all; /* [n], in the order of backward */
    struct span *shares;     /* [n] of this rank */
    size_t n;
    double *norms2; /* [2 n_tensors] for optimizers that go by norms of tensors */
    bool is_whole;  /* parameters and state have more than this rank's shares */
};

/* Cuts the arenas; parameters are here. */
enum status owned_blocks_open(struct owned_blocks *blocks, struct sync *s, bool gathers,
                              struct error *e);

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank);
bool owned_block_overlaps(const struct owned_block *b, struct range tensors);

/* How an arena's memory is given back: mem_give_back, or mem_give_back_shared. */
typedef void give_back(void *memory, size_t bytes);

/* Of others' shares in an arena of this rank. */
void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           give_back *memory);
/* The same of the parameters that a pass has done with. */
void owned_params_done(struct sync *s, const struct owned_blocks *blocks, struct range tensors,
                       give_back *memory);
/* Of all parameters that are gathered, and of the optimizer's state; then nothing is whole. */
void owned_blocks_give_back(const struct sync *s, struct owned_blocks *blocks, give_back *params);

/* Optimizer state for all numbers, so that an index means the same everywhere, of which memory takes pages for this
 * rank's shares alone: what was never written takes none. Freed with the arenas. */
enum status owned_state_open(struct sync *s, const struct owned_blocks *blocks, struct error *e);
/* Brings all of it together at rank 0; `room` is for [ranks] messages. Collective. */
enum status owned_state_to_root(const struct sync *s, const struct owned_blocks *blocks,
                                struct message *room, struct error *e);

/* Sum of squares of this rank's shares of the gradients. */
double owned_norm2(const struct sync *s, const struct owned_blocks *blocks);
/* A step of the optimizer on them, whose sums are complete. */
enum status owned_blocks_step(struct sync *s, const struct owned_blocks *blocks,
                              const struct optimizer *o, uint64_t step, double lr, struct error *e);
