/* Gradients lie in a window that the ranks of a node share, where backward leaves them. Each rank
 * sums its slice over all of them in place, in the order of ranks; every rank's optimizer reads
 * each slice where it was summed. Nothing is sent and nothing copied, and a line of memory that is
 * summed is one that has been read: in place the sum moves a quarter less memory than into an arena
 * of its own.
 *
 *   each rank's part   flag, gradients [n]
 *
 * Two waits a step: for all gradients, then for all slices; a third where they are clipped.
 * Backward of the next step overwrites what other ranks' optimizers may still read: before its
 * first gradient a rank waits for them, usually for nothing, since they have been in forward
 * since. */
#include <stdlib.h>

#include "comm/local_ops.h"
#include "comm/strategies/node_window.h"
#include "kernels/base/clock.h"
#include "kernels/base/pool.h"

struct shm {
    struct node_window window;
    real **grads;        /* [ranks], of each rank */
    bool is_read;        /* what this rank's part holds has been read by all */
    int64_t read_ns;     /* spent waiting for that in this step */
    enum status settled; /* what came of that wait */
    struct error error;
};

/* ---- A step ---- */

static enum status barrier(struct sync *s, const char *operation, struct error *e)
{
    struct shm *w = s->context;
    return node_barrier(&w->window, s, operation, e);
}

static enum status sum_gradients(struct sync *s, struct error *e)
{
    const struct shm *w = s->context;
    size_t begin, end;
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    TRY(barrier(s, "gradients in shared memory", e));
    local_sum(s->exec, s->arenas.grads, (const real *const *)w->grads, s->ranks, begin, end);
    return barrier(s, "sums in shared memory", e);
}

/* Tells that this rank reads other parts no more. */
static void let_go(struct sync *s)
{
    struct shm *w = s->context;
    node_barrier_arrive(&w->window, s);
    w->is_read = false;
}

/* Returns when this rank may write its gradients. */
static enum status wait_for_readers(struct sync *s)
{
    struct shm *w = s->context;
    if (w->is_read)
        return w->settled;
    int64_t begin_ns = clock_ns();
    w->settled = node_barrier_wait(&w->window, s, "optimizers that read shared memory", &w->error);
    w->read_ns += clock_ns() - begin_ns;
    w->is_read = true;
    return w->settled;
}

/* Slice by slice, from this rank's own on, so that ranks do not crowd around one. Whole tensors may
 * cross slices: an optimizer that wants them gets all slices copied to where this rank's own is. */
static void optimize(struct sync *s, const struct optimizer *o, uint64_t step, double lr)
{
    const struct shm *w = s->context;
    bool takes_tensors = optimizer_takes_tensors(o->kind);
    for (int i = 0; i < s->ranks; i++) {
        int r = (s->rank + i) % s->ranks;
        size_t begin, end;
        pool_share(s->arenas.n, (size_t)r, (size_t)s->ranks, &begin, &end);
        if (!takes_tensors)
            sync_optimize_from(s, o, w->grads[r], begin, end, step, lr);
        else if (i > 0)
            sync_copy(s, s->arenas.grads + begin, w->grads[r] + begin,
                      (end - begin) * sizeof(real));
    }
    if (takes_tensors)
        sync_optimize(s, o, 0, s->arenas.n, step, lr);
}

/* The sum is everyone's: each scales its slice, and waits for the others to have done so. */
static enum status clip(struct sync *s, const struct optimizer *o, struct error *e)
{
    size_t begin, end;
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    enum status status = sync_clip(s, o, begin, end, e);
    if (status != OK)
        return status;
    sync_comm_begin(s);
    status = barrier(s, "clipped sums in shared memory", e);
    sync_comm_end(s);
    return status;
}

/* ---- Hooks ---- */

static enum status shm_create(struct sync *s, struct error *e)
{
    struct shm *w = s->context = calloc(1, sizeof *w);
    if (w == NULL)
        return error_set(e, ERR_MEMORY, "no memory for strategy shm");
    enum status status = node_window_open(&w->window, s, 1, e);
    if (status != OK)
        return status;
    w->grads = w->window.arenas[0];
    w->is_read = true;
    s->arenas.grads = w->grads[s->rank];
    status = arenas_alloc(&s->arenas, e);
    if (status == OK)
        status = sum_gradients(s, e);
    if (status == OK) {
        node_window_touch(&w->window, s);
        let_go(s);
    }
    return status;
}

static enum status shm_params_needed(struct sync *s, struct range range, enum pass pass,
                                     struct error *e)
{
    const struct shm *w = s->context;
    (void)range;
    if (pass == PASS_FORWARD || wait_for_readers(s) == OK)
        return OK;
    *e = w->error;
    return w->settled;
}

/* A caller that asks for nothing before may write at once as well; it learns of a wait that failed
 * at the end of its step. */
static real *shm_grad_buffer(struct sync *s, struct range range)
{
    (void)range;
    (void)wait_for_readers(s);
    return s->arenas.grads;
}

static enum status shm_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                                struct error *e)
{
    struct shm *w = s->context;
    if (wait_for_readers(s) != OK) {
        *e = w->error;
        return w->settled;
    }
    sync_comm_begin(s);
    enum status status = sum_gradients(s, e);
    sync_comm_end(s);
    if (status == OK && o->clip_norm > 0)
        status = clip(s, o, e);
    if (status == OK)
        optimize(s, o, step, lr);
    s->times.comm_exposed_ns += w->read_ns;
    s->times.comm_total_ns += w->read_ns;
    w->read_ns = 0;
    let_go(s);
    return status;
}

static void shm_destroy(struct sync *s)
{
    struct shm *w = s->context;
    if (w != NULL) {
        s->arenas.grads = NULL;
        node_window_close(&w->window, s);
        free(w);
    }
    arenas_free(&s->arenas);
}

const struct strategy strategy_shm = {
    .create = shm_create,
    .params_needed = shm_params_needed,
    .grad_buffer = shm_grad_buffer,
    .step_end = shm_step_end,
    .destroy = shm_destroy,
};
