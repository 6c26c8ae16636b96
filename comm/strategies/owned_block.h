/* A block of tensors of which every rank owns an equal share, as stages of ZeRO cut the arenas
 * (comm/cost/strategies/zero.h), whichever way shares go from rank to rank. */
#pragma once

#include "comm/compress.h"

struct owned_block {
    struct range tensors;
    size_t begin, count; /* numbers of an arena */
    bool is_whole;       /* its parameters stay on every rank */
    bool is_here;        /* those of others are here, or on their way */
};

/* How a wait ends: with computing behind it or without. */
typedef void end_wait(struct sync *s);

/* How an arena's memory is given back: mem_give_back, or mem_give_back_shared. */
typedef void give_back(void *memory, size_t bytes);

/* How shares of blocks go from rank to rank. */
struct owned_way {
    give_back *params; /* how the memory of parameters is given back */
    /* Backward has finished block k. */
    enum status (*leave)(struct sync *s, size_t k, struct error *e);
    /* Waits for the oldest block that has left and sums this rank's share of it. */
    enum status (*sum_next)(struct sync *s, end_wait *end, struct error *e);
    /* Brings the parameters of others here: of the blocks that are whole, or of the others. */
    enum status (*gather)(struct sync *s, bool is_whole, struct error *e);
};

/* All blocks, and what this rank owns of each: what the context of such a strategy begins with. At stage 1 there is
 * one block, whose shares lie as a ring leaves its sums. */
struct owned_blocks {
    const struct owned_way *way;
    int stage;
    struct owned_block *all; /* [n], in the order of backward */
    struct span *shares;     /* [n] of this rank */
    size_t n;
    size_t left, summed;      /* blocks of gradients in this step */
    double *norms2;           /* [2 n_tensors] for optimizers that go by norms of tensors */
    struct message *messages; /* [ranks], of a checkpoint */
    bool is_whole;            /* parameters and state have more than this rank's shares */
};

/* Cuts the arenas; parameters are here. */
enum status owned_blocks_open(struct sync *s, const struct owned_way *way, struct error *e);

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank);
bool owned_block_overlaps(const struct owned_block *b, struct range tensors);

/* Gives back the memory of others' shares in an arena of this rank. */
void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           give_back *memory);

/* Optimizer state for all numbers, so that an index means the same everywhere, of which memory takes pages for this
 * rank's shares alone: what was never written takes none. Freed with the arenas. */
enum status owned_state_open(struct sync *s, struct error *e);

/* A step of the optimizer on this rank's shares, whose sums are complete. */
enum status owned_blocks_step(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                              struct error *e);

/* Hooks of struct strategy. */
void owned_step_begin(struct sync *s);
void owned_params_done(struct sync *s, struct range tensors, enum pass pass);
enum status owned_grad_ready(struct sync *s, struct range range, int micro, bool last,
                             struct error *e);
double owned_norm2_local(struct sync *s);
enum status owned_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                           struct error *e);
enum status owned_eval_begin(struct sync *s, struct error *e);
enum status owned_save(struct sync *s, const void **data, size_t *bytes, struct error *e);
enum status owned_restore(struct sync *s, const void *data, size_t bytes, struct error *e);
