/* shm_zero2, shm_zero3: stages 2 and 3 of ZeRO (Rajbhandari et al., "ZeRO: memory optimizations
 * toward training trillion parameter models", 2020) on one node, with the blocks and shares of
 * zero2 and zero3. Gradients and parameters are in shared memory, one arena of each per rank;
 * nothing is sent.
 *
 * Gradients: a rank announces each block that its backward pass has finished. When all ranks have
 * announced a block, each rank sums its own share over all arenas, in the order of ranks, and
 * announces the sum. When all shares are summed, a rank releases the gradients of the other ranks'
 * shares.
 *
 * Parameters: when all ranks have run the optimizer on their shares, each rank copies the others'
 * shares. At stage 3, tensors of more than sync.zero_persist numbers are copied before each pass of
 * the op that reads them, and released after the pass. No tensor is fetched ahead, because a fetch
 * is only a copy.
 *
 * All announcements have the same order on every rank, so one counter per rank is sufficient. No
 * rank overwrites data that another rank may still read. A rank runs the optimizer when all ranks
 * have finished backward, and begins backward when all have run the optimizer.
 *
 * Arenas are reserved whole, so that indices are equal on all ranks. Only written pages take
 * memory. */
#include "comm/cost/strategies/zero.h"
#include "comm/local_ops.h"
#include "comm/strategies/node_window.h"
#include "comm/strategies/owned_block.h"
#include "kernels/base/mem.h"

/* Progress of a block, as counts of barrier arrivals (node_window.arrivals). The block's gradients
 * are complete when every rank has arrived `ready` times. All its shares are summed when every rank
 * has arrived `summed` times. */
struct reached {
    uint64_t ready, summed;
};

struct shm_zero {
    struct owned_blocks blocks;
    struct node_window window;
    real **grads, **params;  /* [ranks] gradient and parameter arenas of each rank */
    struct reached *reached; /* [blocks.n] state of each block in this step */
    size_t freed;            /* number of blocks whose gradients were released in this step */
    /* whether the parameters were initialised or restored from a checkpoint, and have not been used
     * since */
    bool is_new;
};

/* ---- Gradients ---- */

static enum status wait_for(struct sync *s, uint64_t arrivals, const char *operation, end_wait *end,
                            struct error *e)
{
    struct shm_zero *z = s->context;
    sync_comm_begin(s);
    enum status status = node_barrier_wait_for(&z->window, s, arrivals, operation, e);
    end(s);
    return status;
}

static enum status leave(struct sync *s, size_t k, struct error *e)
{
    struct shm_zero *z = s->context;
    node_barrier_arrive(&z->window, s);
    z->reached[k].ready = z->window.arrivals;
    return OK;
}

/* Waits until all ranks have summed the oldest block not yet released. Then releases this rank's
 * gradients of the block, except for its own share. */
static enum status free_next(struct sync *s, end_wait *end, struct error *e)
{
    struct shm_zero *z = s->context;
    TRY(wait_for(s, z->reached[z->freed].summed, "sums in shared memory", end, e));
    sync_pack_begin(s);
    owned_block_give_back(s, &z->blocks.all[z->freed], s->arenas.grads, mem_give_back_shared);
    sync_pack_end(s);
    z->freed++;
    return OK;
}

/* Sums this rank's share of the next block. Then waits until all ranks have summed the previous
 * block, and releases this rank's gradients of the previous block, except for its own share. After
 * summing the last block, does the same for the last block too. */
static enum status sum_next(struct sync *s, end_wait *end, struct error *e)
{
    struct shm_zero *z = s->context;
    struct owned_blocks *blocks = &z->blocks;
    struct reached *b = &z->reached[blocks->summed];
    const struct span share = blocks->shares[blocks->summed];
    TRY(wait_for(s, b->ready, "gradients in shared memory", end, e));
    sync_pack_begin(s);
    local_sum(s->exec, s->arenas.grads, (const real *const *)z->grads, s->ranks, share.begin,
              share.begin + share.n);
    sync_pack_end(s);
    node_barrier_arrive(&z->window, s);
    b->summed = z->window.arrivals;
    blocks->summed++;
    while (z->freed + (blocks->summed < blocks->left) < blocks->summed)
        TRY(free_next(s, end, e));
    return OK;
}

/* ---- Parameters ---- */

/* Copies other ranks' shares of a block's parameters. Each rank begins with the share of the next
 * rank, so no two ranks begin with the same share. */
static void copy_block(struct sync *s, struct owned_block *b)
{
    const struct shm_zero *z = s->context;
    sync_call_begin(s);
    for (int i = 1; i < s->ranks; i++) {
        int r = (s->rank + i) % s->ranks;
        const struct span share = owned_block_share(s, b, r);
        local_copy(s->exec, s->arenas.params + share.begin, z->params[r] + share.begin,
                   share.n * sizeof(real));
    }
    sync_call_end(s);
    b->is_here = true;
}

static enum status meet(struct sync *s, const char *operation, end_wait *end, struct error *e)
{
    struct shm_zero *z = s->context;
    node_barrier_arrive(&z->window, s);
    return wait_for(s, z->window.arrivals, operation, end, e);
}

/* Copies other ranks' shares of the parameters of all blocks whose owned_block.is_whole equals
 * `is_whole`. If `is_whole` is true, first waits until all ranks have run the optimizer. */
static enum status copy_blocks(struct sync *s, bool is_whole, struct error *e)
{
    const struct shm_zero *z = s->context;
    if (is_whole)
        TRY(meet(s, "parameters in shared memory", sync_comm_end, e));
    for (size_t k = 0; k < z->blocks.n; k++)
        if (z->blocks.all[k].is_whole == is_whole)
            copy_block(s, &z->blocks.all[k]);
    return OK;
}

static const struct owned_way way = {
    .params = mem_give_back_shared, .leave = leave, .sum_next = sum_next, .gather = copy_blocks};

/* ---- Hooks ---- */

static enum status shm_zero_create(struct sync *s, struct error *e)
{
    struct shm_zero *z = s->context;
    z->is_new = true;
    TRY(node_window_open(&z->window, s, 2, true, e));
    TRY(owned_blocks_open(s, &way, e));
    TRY(MEM_KEEP(&s->memory, z->reached, z->blocks.n, "arrivals at blocks", e));
    z->grads = z->window.arenas[0];
    z->params = z->window.arenas[1];
    s->arenas.grads = z->grads[s->rank];
    s->arenas.params = z->params[s->rank];
    for (size_t k = 0; k < z->blocks.n; k++)
        local_fill(s->exec, s->arenas.grads + z->blocks.shares[k].begin, z->blocks.shares[k].n, 0);
    TRY(owned_state_open(s, e));
    return arenas_alloc(&s->arenas, e);
}

static void shm_zero_step_begin(struct sync *s)
{
    struct shm_zero *z = s->context;
    z->freed = 0;
    owned_step_begin(s);
}

/* Makes the parameters of `range` available. At stage 3, after initialisation or a restore, ranks
 * first wait until all have written their parameters. */
static enum status shm_zero_params_needed(struct sync *s, struct range range, enum pass pass,
                                          struct error *e)
{
    struct shm_zero *z = s->context;
    if (z->is_new && z->blocks.stage == 3)
        TRY(meet(s, "new parameters in shared memory", sync_comm_end_amid, e));
    z->is_new = false;
    for (size_t k = 0; k < z->blocks.n; k++) {
        struct owned_block *b = &z->blocks.all[k];
        if (!b->is_here && owned_block_overlaps(b, range))
            copy_block(s, b);
    }
    return OK;
}

static enum status shm_zero_restore(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    struct shm_zero *z = s->context;
    z->is_new = true;
    return owned_restore(s, data, bytes, e);
}

static void shm_zero_destroy(struct sync *s)
{
    struct shm_zero *z = s->context;
    s->arenas.grads = s->arenas.params = NULL;
    node_window_close(&z->window, s);
}

#define HOOKS                                                                                      \
    {                                                                                              \
        .context_bytes = sizeof(struct shm_zero), .create = shm_zero_create,                       \
        .step_begin = shm_zero_step_begin, .params_needed = shm_zero_params_needed,                \
        .params_done = owned_params_done, .grad_ready = owned_grad_ready,                          \
        .norm2_local = owned_norm2_local, .step_end = owned_step_end,                              \
        .eval_begin = owned_eval_begin, .save = owned_save, .restore = shm_zero_restore,           \
        .destroy = shm_zero_destroy,                                                               \
    }

const struct strategy strategy_shm_zero2 = HOOKS;
const struct strategy strategy_shm_zero3 = HOOKS;
