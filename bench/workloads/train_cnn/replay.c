#include "bench/workloads/train_cnn/replay.h"

#include <math.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"

/* Number of untimed replays that warm up caches and connections. */
#define WARM_REPLAYS 2

/* Restores the gradients of the last training step. Otherwise, each replay would sum the results of
 * the previous replay, and values would grow until they overflow. */
static void put_gradients(struct trainer *t, const real *gradients)
{
    for (int i = 0; i < t->model.stage.held.n_tensors; i++) {
        const struct tensor_desc *tensor = &t->model.stage.held.tensors[i];
        real *to = sync_grad_buffer(t->sync, (struct range){i, i + 1});
        memcpy(to + tensor->offset, gradients + tensor->offset, tensor->count * sizeof *to);
    }
}

/* Repeats the communication calls of one step with all its micro-batches. Adds the time without the
 * optimizer to *taken_ns. */
static enum status replay_step(struct trainer *t, uint64_t step, int64_t *taken_ns, struct error *e)
{
    TRY(wait_barrier(t->job.waiter, t->job.comm, "common beginning of a replay", e));
    int64_t begin_ns = clock_ns();
    sync_step_begin(t->sync);
    if (t->group.open)
        TRY(group_replay(&t->group, e));
    for (uint32_t micro = 0; micro < t->batches.accumulate; micro++) {
        TRY(trainer_forward(t, NULL, e));
        TRY(trainer_backward(t, NULL, (int)micro, micro + 1 == t->batches.accumulate, e));
    }
    TRY(sync_step_end(t->sync, &t->optimizer, step, 0, e));
    *taken_ns += clock_ns() - begin_ns - t->sync->times.optimizer_ns;
    return OK;
}

/* Replays one period of the strategy's communication (cost->steps steps) and adds cost->steps to
 * *step. Sets *time to the mean time per step (ns). Steps without communication count as 0 ns. */
static enum status replay_round(struct trainer *t, uint64_t *step, const struct cost *cost,
                                const real *gradients, double *time, struct error *e)
{
    const struct sync *s = t->sync;
    int64_t taken_ns = 0;
    for (uint64_t i = 0; i < cost->steps; i++) {
        if (strategy_times(s->kind, &s->config, cost, ++*step, 1) == 0)
            continue;
        put_gradients(t, gradients);
        TRY(replay_step(t, *step, &taken_ns, e));
    }
    *time = (double)taken_ns / (double)cost->steps;
    return OK;
}

static enum status replay_steps(struct trainer *t, int n, const real *gradients, double *times,
                                struct error *e)
{
    const struct cost cost = sync_cost(t->sync);
    uint64_t step = t->steps_done;
    for (int i = -WARM_REPLAYS; i < n; i++) {
        double time;
        TRY(replay_round(t, &step, &cost, gradients, &time, e));
        if (i >= 0)
            times[i] = time;
    }
    return OK;
}

enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e)
{
    const struct arenas *a = &t->sync->arenas;
    /* count of numbers that became infinite during training; replays must not change it */
    const uint64_t infinite = t->sync->infinite;
    real *gradients = NULL;
    double *times = NULL;
    enum status status = MEM_NEW_ALIGNED(gradients, a->n, "the gradients of replays", e);
    THEN(status, MEM_NEW_ALIGNED(times, (size_t)n, "the times of replays", e));
    if (status == OK) {
        memcpy(gradients, a->grads, a->n * sizeof *gradients);
        status = replay_steps(t, n, gradients, times, e);
    }
    t->sync->infinite = infinite;
    if (status == OK)
        *median_ns = floor(stats_median(times, (size_t)n));
    mem_free(gradients);
    mem_free(times);
    return status;
}
