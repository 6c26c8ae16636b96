#include "bench/workloads/train_cnn/replay.h"

#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"

/* Before those that count: ways that nobody took for a while are slow. */
#define WARM_REPLAYS 2

static struct range range_of(const struct trainer *t, int op)
{
    struct range range;
    net_op_tensors(t->net, op, &range.first, &range.last);
    return range;
}

/* As each op of the net finds them: sums of sums would grow without bound. */
static void put_gradients(struct trainer *t, const real *gradients)
{
    for (int i = 0; i < t->desc->n_tensors; i++) {
        const struct tensor_desc *tensor = &t->desc->tensors[i];
        real *to = sync_grad_buffer(t->sync, (struct range){i, i + 1});
        memcpy(to + tensor->offset, gradients + tensor->offset, tensor->count * sizeof *to);
    }
}

static enum status forward_calls(struct trainer *t, struct error *e)
{
    for (int op = 0; op < net_ops(t->net); op++) {
        struct range range = range_of(t, op);
        TRY(sync_params_needed(t->sync, range, PASS_FORWARD, e));
        sync_params_done(t->sync, range, PASS_FORWARD);
    }
    return OK;
}

static enum status backward_calls(struct trainer *t, struct error *e)
{
    for (int op = net_ops(t->net) - 1; op >= 0; op--) {
        struct range range = range_of(t, op);
        TRY(sync_params_needed(t->sync, range, PASS_BACKWARD, e));
        sync_grad_buffer(t->sync, range);
        sync_params_done(t->sync, range, PASS_BACKWARD);
        if (range.first < range.last && sync_grad_ready(t->sync, range, 0, true, e) != OK)
            return e->status;
    }
    return OK;
}

static enum status replay_step(struct trainer *t, int64_t *taken_ns, struct error *e)
{
    enum status status = wait_barrier(t->waiter, t->comm, "common beginning of a replay", e);
    int64_t begin_ns = clock_ns();
    sync_step_begin(t->sync);
    if (status == OK)
        status = forward_calls(t, e);
    if (status == OK)
        status = backward_calls(t, e);
    if (status == OK)
        status = sync_step_end(t->sync, &t->optimizer, t->steps_done, 0, e);
    *taken_ns = clock_ns() - begin_ns - t->sync->times.optimizer_ns;
    return status;
}

enum status replay_run(struct trainer *t, int n, int64_t *median_ns, struct error *e)
{
    size_t bytes = t->sync->arenas.n * sizeof(real);
    real *gradients = mem_alloc(bytes);
    double *times = mem_alloc((size_t)n * sizeof *times);
    const uint64_t infinite = t->sync->infinite; /* of steps that were trained */
    enum status status = gradients != NULL && times != NULL
                             ? OK
                             : error_set(e, ERR_MEMORY, "no memory for %d replays", n);
    if (status == OK)
        memcpy(gradients, t->sync->arenas.grads, bytes);
    for (int i = -WARM_REPLAYS; i < n && status == OK; i++) {
        int64_t taken_ns;
        put_gradients(t, gradients);
        status = replay_step(t, &taken_ns, e);
        if (i >= 0)
            times[i] = (double)taken_ns;
    }
    t->sync->infinite = infinite;
    if (status == OK)
        *median_ns = (int64_t)stats_median(times, (size_t)n);
    mem_free(gradients);
    mem_free(times);
    return status;
}
