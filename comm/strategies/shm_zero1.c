/* shm_zero1: ZeRO stage 1 on one node (Rajbhandari et al., "ZeRO: memory optimizations toward
 * training trillion parameter models", 2020). Gradients and parameters are in shared memory, one
 * arena of each per rank. A rank sums its slice over all ranks' gradients, in the order of ranks,
 * and runs the optimizer on this sum. Then it copies the other slices of the parameters from the
 * ranks that updated them.
 *
 * Costs two barriers per step, one after all gradients and one after all parameters. Clipping by
 * norm and fp16 each add a sum over ranks between the barriers. After the second barrier no rank
 * reads gradients, so a rank may overwrite them. After the first barrier of the next step a rank
 * may overwrite its parameters, too. */
#include "comm/local_ops.h"
#include "comm/strategies/node_window.h"
#include "kernels/base/pool.h"

struct shm_zero1 {
    struct node_window window;
    real **grads, **params; /* [ranks] gradient and parameter arenas of each rank */
    bool by_tensors;        /* whether slices of the last step consisted of whole tensors */
};

/* Returns the offset of the first tensor that begins at or after offset `at`; a->n if no tensor
 * does. */
static size_t next_tensor(const struct arenas *a, size_t at)
{
    int i = 0;
    while (i < a->n_tensors && a->tensors[i].offset < at)
        i++;
    return i < a->n_tensors ? a->tensors[i].offset : a->n;
}

/* Computes a rank's slice, an equal part of the arena. For an optimizer that needs whole tensors,
 * the slice is the tensors that begin in this part. */
static void slice_of(const struct sync *s, int rank, size_t *begin, size_t *end)
{
    const struct shm_zero1 *z = s->context;
    pool_share(s->arenas.n, (size_t)rank, (size_t)s->ranks, begin, end);
    if (z->by_tensors) {
        *begin = next_tensor(&s->arenas, *begin);
        *end = next_tensor(&s->arenas, *end);
    }
}

/* ---- A step ---- */

static enum status sum_slice(struct sync *s, struct error *e)
{
    struct shm_zero1 *z = s->context;
    size_t begin, end;
    slice_of(s, s->rank, &begin, &end);
    sync_comm_begin(s);
    enum status status = node_barrier(&z->window, s, "gradients in shared memory", e);
    if (status == OK)
        local_sum(s->exec, s->arenas.grads, (const real *const *)z->grads, s->ranks, begin, end);
    sync_comm_end(s);
    return status;
}

static enum status fetch_params(struct sync *s, struct error *e)
{
    struct shm_zero1 *z = s->context;
    sync_comm_begin(s);
    enum status status = node_barrier(&z->window, s, "parameters in shared memory", e);
    for (int i = 1; i < s->ranks && status == OK; i++) {
        int r = (s->rank + i) % s->ranks;
        size_t begin, end;
        slice_of(s, r, &begin, &end);
        local_copy(s->exec, s->arenas.params + begin, z->params[r] + begin,
                   (end - begin) * sizeof(real));
    }
    sync_comm_end(s);
    return status;
}

/* ---- Hooks ---- */

static enum status shm_zero1_create(struct sync *s, struct error *e)
{
    struct shm_zero1 *z = s->context;
    TRY(node_window_open(&z->window, s, 2, false, e));
    z->grads = z->window.arenas[0];
    z->params = z->window.arenas[1];
    s->arenas.grads = z->grads[s->rank];
    s->arenas.params = z->params[s->rank];
    TRY(arenas_alloc(&s->arenas, e));
    node_window_touch(&z->window, s);
    return node_barrier(&z->window, s, "opening shared memory", e);
}

static double shm_zero1_norm2_local(struct sync *s)
{
    size_t begin, end;
    slice_of(s, s->rank, &begin, &end);
    return local_norm2(s->exec, s->arenas.grads + begin, end - begin);
}

static enum status shm_zero1_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                      double lr, struct error *e)
{
    struct shm_zero1 *z = s->context;
    size_t begin, end;
    z->by_tensors = optimizer_takes_tensors(o->kind);
    slice_of(s, s->rank, &begin, &end);
    TRY(sum_slice(s, e));
    TRY(sync_finish_sum(s, o, begin, end, e));
    sync_optimize(s, o, begin, end, step, lr);
    return fetch_params(s, e);
}

/* Copies the optimizer state of all slices to every rank, since each rank has the state of its own
 * slice only. */
static enum status shm_zero1_save(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    for (int k = 0; k < s->arenas.slots * s->ranks; k++) {
        size_t begin, end, slot = (size_t)(k / s->ranks);
        slice_of(s, k % s->ranks, &begin, &end);
        TRY(wait_bcast(s->waiter, s->arenas.state + slot * s->arenas.n + begin, end - begin,
                       MPI_REAL_TYPE, k % s->ranks, s->comm, "optimizer state of a slice", e));
    }
    return OK;
}

static void shm_zero1_destroy(struct sync *s)
{
    struct shm_zero1 *z = s->context;
    s->arenas.grads = s->arenas.params = NULL;
    node_window_close(&z->window, s);
}

const struct strategy strategy_shm_zero1 = {
    .context_bytes = sizeof(struct shm_zero1),
    .create = shm_zero1_create,
    .norm2_local = shm_zero1_norm2_local,
    .step_end = shm_zero1_step_end,
    .save = shm_zero1_save,
    .destroy = shm_zero1_destroy,
};
