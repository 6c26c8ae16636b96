/* Blocks of tensors of which every rank owns an equal share, as stages of ZeRO cut the arenas
 * (comm/cost/strategies/zero.h). Independent of how shares travel between ranks. */
#pragma once

#include "comm/compress.h"

struct owned_block {
    struct range tensors;
    size_t begin, count; /* numbers of an arena */
    bool is_whole;       /* all of its parameters stay on every rank */
    bool is_here;        /* parameters of other ranks' shares are present or in transit */
};

/* Ends a wait: sync_comm_end, or sync_comm_end_amid if computation follows. */
typedef void end_wait(struct sync *s);

/* Releases memory of an arena: mem_give_back or mem_give_back_shared. */
typedef void give_back(void *memory, size_t bytes);

/* Operations that move shares of blocks between ranks. */
struct owned_way {
    give_back *params;
    /* Called when backward has finished block k. */
    enum status (*leave)(struct sync *s, size_t k, struct error *e);
    /* Waits for the oldest block passed to `leave` and sums this rank's share of it. */
    enum status (*sum_next)(struct sync *s, end_wait *end, struct error *e);
    /* Fetches parameters of other ranks' shares, for blocks with this value of is_whole. */
    enum status (*gather)(struct sync *s, bool is_whole, struct error *e);
};

/* All blocks and this rank's share of each; first member of a strategy's context. Stage 1 has
 * one block, whose shares are placed as a ring leaves its sums. */
struct owned_blocks {
    const struct owned_way *way;
    int stage;
    struct owned_block *all; /* [n], in the order of backward */
    struct span *shares;     /* [n] shares of this rank */
    size_t n;
    size_t left, summed;      /* number of blocks passed to `leave` in this step; number summed */
    double *norms2;           /* [2 n_tensors] for optimizers that need norms of tensors */
    struct message *messages; /* [ranks] messages of a checkpoint */
    bool is_whole;            /* parameters and state include other ranks' shares */
};

/* Cuts the arenas into blocks, all of whose parameters count as present. */
enum status owned_blocks_open(struct sync *s, const struct owned_way *way, struct error *e);

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank);
bool owned_block_overlaps(const struct owned_block *b, struct range tensors);

/* Releases the memory of other ranks' shares in an arena of this rank. */
void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           give_back *memory);

/* Reserves optimizer state for all numbers, so that indices are equal in all arenas. Only pages
 * of this rank's shares take memory, since the others are never written. Freed with the arenas. */
enum status owned_state_open(struct sync *s, struct error *e);

/* Finishes the sums and runs the optimizer on this rank's shares. */
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
