/* local_sgd: every rank updates its weights with its own gradient. After every sync.period steps,
 * weights are averaged over ranks (Stich, "Local SGD converges fast and communicates little",
 * 2019). The first sync.post_local steps average gradients instead (Lin, Stich, Patel and Jaggi,
 * "Don't use large mini-batches, use local SGD", 2020).
 *
 * Costs one allreduce of all weights per period.
 *
 * Momentum and Adam's moments are not averaged, as in PyTorch's post-local SGD. With a period of 1,
 * unclipped SGD without decoupled decay equals allreduce up to rounding, because its step is linear
 * in the gradient. Each rank clips the gradient that it applies by that gradient's norm.
 *
 * The evaluated model is the average. In a checkpoint each rank keeps its own weights. */
#include "comm/strategies/average.h"

static enum status local_sgd_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    return average_open(s, e);
}

/* Updates weights with the mean of all ranks' gradients. A rank's gradient is the mean over its
 * samples. */
static enum status step_on_average(struct sync *s, const struct optimizer *o, uint64_t step,
                                   double lr, struct error *e)
{
    TRY(sync_allreduce(s, s->arenas.grads, s->arenas.n, "average of the gradients", e));
    sync_scale(s, s->arenas.grads, s->arenas.n, (real)(1.0 / s->ranks));
    return sync_update(s, o, step, lr, e);
}

static enum status local_sgd_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                      double lr, struct error *e)
{
    uint64_t period = (uint64_t)s->config.options[SYNC_period];
    uint64_t post_local = (uint64_t)s->config.options[SYNC_post_local];
    if (step <= post_local)
        return step_on_average(s, o, step, lr, e);
    sync_update_alone(s, o, step, lr);
    bool due = (step - post_local) % period == 0;
    return due ? average_params(s, e) : OK;
}

const struct strategy strategy_local_sgd = {
    .context_bytes = sizeof(struct average),
    .create = local_sgd_create,
    .step_end = local_sgd_step_end,
    .eval_begin = average_eval_begin,
    .eval_end = average_eval_end,
};
