/* shm: sums gradients in memory that all ranks share (MPI_Win_allocate_shared), on one node. Each
 * rank sums one slice over all ranks' gradients, in the order of ranks; the sum replaces its own
 * gradients in that slice. Every rank's optimizer then reads each slice from the rank that summed
 * it.
 *
 *   each rank's part   flag, gradients [n]
 *
 * A sum in place writes only cache lines that were just read, and so moves less memory than a sum
 * into a separate arena. Each step has barriers after all gradients and after all slices, and a
 * third if sums need finishing, such as clipping.
 *
 * The next backward pass overwrites gradients that other ranks' optimizers may still read. A rank
 * therefore waits for these ranks before it writes its first gradient. */
#include "comm/local_ops.h"
#include "comm/strategies/node_window.h"
#include "kernels/base/clock.h"
#include "kernels/base/pool.h"

struct shm {
    struct node_window window;
    real **grads; /* [ranks] gradients of each rank */
    bool is_read; /* whether all ranks have read this rank's gradients of the last step */
    /* time spent waiting in this step until all ranks have read this rank's gradients; part of
     * comm_total_ns */
    int64_t read_ns;
    enum status read; /* status of the wait until all ranks have read this rank's gradients; if it
                         failed, `error` has the message */
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

/* Announces that this rank no longer reads other ranks' gradients of this step. */
static void end_reading(struct sync *s)
{
    struct shm *w = s->context;
    node_barrier_arrive(&w->window, s);
    w->is_read = false;
}

/* Waits, once per step, until all ranks have read this rank's previous gradients, which backward
 * may then overwrite. Every call returns the status of this wait. */
static enum status wait_for_readers(struct sync *s)
{
    struct shm *w = s->context;
    if (w->is_read)
        return w->read;
    int64_t begin_ns = clock_ns();
    w->read = node_barrier_wait(&w->window, s, "other ranks reading shared gradients", &w->error);
    int64_t now_ns = clock_ns();
    w->read_ns += now_ns - begin_ns;
    /* this wait is communication, but runs outside sync_comm_begin and sync_comm_end */
    s->times.comm_exposed_ns += now_ns - begin_ns;
    /* waited_ns is subtracted from arrive_ns, so that this wait does not make the rank appear
     * late */
    s->waited_ns += now_ns - begin_ns;
    timeline_add(s->waiter->timeline, PHASE_comm, "other ranks reading shared gradients", begin_ns,
                 now_ns);
    w->is_read = true;
    return w->read;
}

/* Runs the optimizer slice by slice. If the optimizer needs whole tensors, instead copies the other
 * ranks' slices to this rank's arena, then runs the optimizer once on the whole arena. Each rank
 * starts at its own slice, so that ranks do not all read one slice at the same time. */
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

/* Calls sync_finish_sum for this rank's slice. Then waits until all ranks have done so, since all
 * ranks read all slices. */
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

/* Waits until other ranks have read this rank's previous gradients, in case params_needed was not
 * called for backward. Returns the gradient arena. shm_step_end reports a failure of the wait. */
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
