/* shm: all ranks on one node. Gradients lie in a window that the ranks share (MPI_Win_allocate_shared),
 * and backward leaves them there. Each rank sums its slice over all of them in place, in the order of
 * ranks; every rank's optimizer reads each slice where it was summed.
 *
 *   each rank's part   flag, gradients [n]
 *
 * Costs no message and no copy: a slice of n / p numbers of each rank is read and summed. Summing in
 * place writes only to lines that were just read, and so moves a quarter less memory than a sum into
 * an arena of its own. Two barriers a step: for all gradients, then for all slices; a third where
 * sums are clipped or scaled.
 *
 * Backward of the next step overwrites what other ranks' optimizers may still read: before its first
 * gradient a rank waits for them, usually for no time, since they have gone through forward
 * meanwhile. */
#include "comm/local_ops.h"
#include "comm/strategies/node_window.h"
#include "kernels/base/clock.h"
#include "kernels/base/pool.h"

struct shm {
    struct node_window window;
    real **grads;     /* [ranks], of each rank */
    bool is_read;     /* all ranks have read this rank's part */
    int64_t read_ns;  /* spent waiting for that in this step, of the time of all communication */
    enum status read; /* of that wait */
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

/* This rank reads no other part any more. */
static void end_reading(struct sync *s)
{
    struct shm *w = s->context;
    node_barrier_arrive(&w->window, s);
    w->is_read = false;
}

/* Returns when this rank may write its gradients: all ranks have read the last ones. */
static enum status wait_for_readers(struct sync *s)
{
    struct shm *w = s->context;
    if (w->is_read)
        return w->read;
    int64_t begin_ns = clock_ns();
    w->read = node_barrier_wait(&w->window, s, "optimizers that read shared memory", &w->error);
    int64_t now_ns = clock_ns();
    w->read_ns += now_ns - begin_ns;
    s->times.comm_exposed_ns += now_ns - begin_ns; /* now: it is no part of backward's time */
    s->waited_ns += now_ns - begin_ns;             /* nor is this rank late for it */
    timeline_add(s->waiter->timeline, PHASE_comm, "optimizers that read shared memory", begin_ns,
                 now_ns);
    w->is_read = true;
    return w->read;
}

/* Slice by slice, beginning with this rank's own, so that ranks do not all read the same one. Whole
 * tensors may cross slices: for an optimizer that takes tensors all slices are copied to this rank's
 * part first. */
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

/* All ranks read all slices: each rank finishes its own, and waits until the others have done so. */
static enum status finish_sums(struct sync *s, const struct optimizer *o, struct error *e)
{
    size_t begin, end;
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    TRY(sync_finish_sum(s, o, begin, end, e));
    sync_comm_begin(s);
    enum status status = barrier(s, "finished sums in shared memory", e);
    sync_comm_end(s);
    return status;
}

/* ---- Hooks ---- */

static enum status shm_create(struct sync *s, struct error *e)
{
    struct shm *w = s->context;
    TRY(node_window_open(&w->window, s, 1, false, e));
    w->grads = w->window.arenas[0];
    w->is_read = true;
    s->arenas.grads = w->grads[s->rank];
    TRY(arenas_alloc(&s->arenas, e));
    TRY(sum_gradients(s, e));
    node_window_touch(&w->window, s);
    end_reading(s);
    return OK;
}

static enum status shm_params_needed(struct sync *s, struct range range, enum pass pass,
                                     struct error *e)
{
    const struct shm *w = s->context;
    if (pass == PASS_FORWARD || wait_for_readers(s) == OK)
        return OK;
    *e = w->error;
    return w->read;
}

/* For a caller that skips params_needed: it learns at the end of its step that this wait has
 * failed. */
static real *shm_grad_buffer(struct sync *s, struct range range)
{
    (void)wait_for_readers(s);
    return s->arenas.grads;
}

static enum status shm_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                                struct error *e)
{
    struct shm *w = s->context;
    if (wait_for_readers(s) != OK) {
        *e = w->error;
        return w->read;
    }
    sync_comm_begin(s);
    enum status status = sum_gradients(s, e);
    sync_comm_end(s);
    if (status == OK && sync_finishes_sum(s, o))
        status = finish_sums(s, o, e);
    if (status == OK)
        optimize(s, o, step, lr);
    s->times.comm_total_ns += w->read_ns;
    w->read_ns = 0;
    end_reading(s);
    return status;
}

static void shm_destroy(struct sync *s)
{
    struct shm *w = s->context;
    s->arenas.grads = NULL;
    node_window_close(&w->window, s);
}

const struct strategy strategy_shm = {
    .context_bytes = sizeof(struct shm),
    .create = shm_create,
    .params_needed = shm_params_needed,
    .grad_buffer = shm_grad_buffer,
    .step_end = shm_step_end,
    .destroy = shm_destroy,
};
