/* Local SGD: every rank steps on its own gradient, and after sync.period steps the ranks' weights
 * are averaged (Stich, "Local SGD converges fast and communicates little", 2019). Post-local SGD
 * begins with sync.post_local steps in which gradients are averaged instead (Lin, Stich, Patel and
 * Jaggi, "Don't use large mini-batches, use local SGD", 2020); until then replicas are equal.
 *
 * Weights alone are averaged, as PyTorch's post-local SGD does: momentum and Adam's moments stay
 * those of the rank. With a period of 1 plain SGD, with momentum and coupled decay or without, is
 * what allreduce computes, up to rounding, because its step is linear in the gradient; the other
 * optimizers, and clipping, are not linear and differ. A rank clips its own gradient by its own
 * norm, in averaged steps all clip the average.
 *
 * The model to evaluate is the average. In a checkpoint each rank keeps its own weights. */
#include <stdlib.h>

#include "comm/average.h"
#include "comm/local_ops.h"
#include "kernels/base/clock.h"

static enum status local_sgd_create(struct sync *s, struct error *e)
{
    struct average *a = s->context = calloc(1, sizeof *a);
    if (a == NULL)
        return error_set(e, ERR_MEMORY, "no memory for local SGD");
    enum status status = arenas_alloc(&s->arenas, e);
    return status == OK ? average_open(a, s, e) : status;
}

/* Gradients are means over a rank's samples: so is what all ranks step on. */
static enum status average_gradients(struct sync *s, const struct optimizer *o, struct error *e)
{
    sync_comm_begin(s);
    enum status status = wait_allreduce(s->waiter, s->arenas.grads, s->arenas.n, MPI_REAL_TYPE,
                                        MPI_SUM, s->comm, "average of the gradients", e);
    sync_comm_end(s);
    int64_t begin_ns = clock_ns();
    local_scale(s->exec, s->arenas.grads, s->arenas.n, (real)(1.0 / s->ranks));
    s->times.pack_ns += clock_ns() - begin_ns;
    return status == OK ? sync_clip(s, o, 0, s->arenas.n, e) : status;
}

static enum status local_sgd_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                      double lr, struct error *e)
{
    uint64_t period = (uint64_t)s->config.options[SYNC_period];
    uint64_t post_local = (uint64_t)s->config.options[SYNC_post_local];
    bool together = step <= post_local;
    enum status status = OK;
    if (together)
        status = average_gradients(s, o, e);
    else if (o->clip_norm > 0)
        sync_clip_alone(s, o, local_norm2(s->exec, s->arenas.grads, s->arenas.n));
    if (status != OK)
        return status;
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
    bool due = !together && (step - post_local) % period == 0;
    return due ? average_params(s, e) : OK;
}

static enum status local_sgd_eval_begin(struct sync *s, struct error *e)
{
    return average_begin(s->context, s, e);
}

static enum status local_sgd_eval_end(struct sync *s, struct error *e)
{
    (void)e;
    average_end(s->context, s);
    return OK;
}

static void local_sgd_destroy(struct sync *s)
{
    if (s->context != NULL)
        average_close(s->context);
    free(s->context);
    arenas_free(&s->arenas);
}

const struct strategy strategy_local_sgd = {
    .create = local_sgd_create,
    .step_end = local_sgd_step_end,
    .eval_begin = local_sgd_eval_begin,
    .eval_end = local_sgd_eval_end,
    .destroy = local_sgd_destroy,
};
