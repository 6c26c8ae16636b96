/* Blocks of tensors for ZeRO (comm/cost/strategies/zero.h). Every rank owns an equal share of each
 * block. struct owned_way states how ranks exchange shares. */
#pragma once

#include "comm/compress.h"

struct owned_block {
    struct range tensors;
    size_t begin, count; /* elements [begin, begin + count) of an arena */
    bool is_whole;       /* whether every rank keeps all parameters of the block between steps */
    /* whether other ranks' shares of the parameters are in memory or being received */
    bool is_here;
};

/* Ends the timing of a wait: sync_comm_end, or sync_comm_end_amid if the rank computes
 * afterwards. */
typedef void end_wait(struct sync *s);

/* Releases memory of an arena to the system: mem_give_back or mem_give_back_shared. */
typedef void give_back(void *memory, size_t bytes);

/* How a strategy exchanges shares of blocks between ranks. */
struct owned_way {
    give_back *params;
    /* Starts to sum the gradients of block k. Called when backward has finished the block. */
    enum status (*leave)(struct sync *s, size_t k, struct error *e);
    /* Completes the oldest pending sum that `leave` started: waits for the other ranks' gradients,
     * then sums this rank's share. `end` is called after each wait. */
    enum status (*sum_next)(struct sync *s, end_wait *end, struct error *e);
    /* Fetches other ranks' parameters, either for the blocks kept whole between steps (`is_whole`)
     * or for all other blocks. */
    enum status (*gather)(struct sync *s, bool is_whole, struct error *e);
};

/* All blocks, and this rank's share of each; first member of sync->context. In ZeRO stage 1, all
 * tensors form one block, and each rank's share is the part whose sum the ring algorithm leaves on
 * that rank. In stages 2 and 3, the shares of a block are in the order of the ranks. */
struct owned_blocks {
    const struct owned_way *way;
    int stage;
    struct owned_block *all; /* [n] blocks in the order in which backward finishes them */
    struct span *shares;     /* [n] this rank's share of each block */
    size_t n;
    /* `left`: number of block sums that this step has started. `summed`: number of these sums
     * completed */
    size_t left, summed;
    /* [n_tensors][2] squared norms per tensor: weights and update (LAMB) or gradient (LARS) */
    double *norms2;
    struct message *messages; /* [ranks] messages that collect state at rank 0 */
    bool is_whole;            /* whether this rank's arenas hold other ranks' shares too */
};

/* Cuts the arenas into blocks. All parameters are marked as present on every rank. */
enum status owned_blocks_open(struct sync *s, const struct owned_way *way, struct error *e);

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank);
bool owned_block_overlaps(const struct owned_block *b, struct range tensors);

/* Releases the memory that other ranks' shares of block `b` take in this rank's `arena`. */
void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           give_back *memory);

/* Reserves optimizer state for all parameters, so that indices are equal in all arenas. Other
 * ranks' shares take memory only between saving or restoring a checkpoint and the next step.
 * sync_destroy frees the state. */
enum status owned_state_open(struct sync *s, struct error *e);

/* Finishes the sums (scaling, clipping) and runs the optimizer on this rank's shares. */
enum status owned_blocks_step(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                              struct error *e);

/* Hooks of struct strategy: each function owned_<name> below implements the hook <name>. */
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
