/* sliced: sums the gradient in sync.slices calls of MPI_Allreduce after backward, in place, like a
 * script whose library cannot sum the whole net at once. Computes the same sums as allreduce, with
 * the latency of that many calls. sync.slices_from_end 1 begins with the last layers. For the cost,
 * see comm/cost/strategies/sliced.c. */
#include "comm/strategy.h"
#include "kernels/base/pool.h"

/* As with allreduce: the library changes its algorithm after five calls. */
#define WARM_STEPS 6

#define OPERATION "allreduce of a slice"

static enum status sum_slice(struct sync *s, size_t i, size_t slices, struct error *e)
{
    size_t begin, end;
    pool_share(s->arenas.n, i, slices, &begin, &end);
    sync_comm_begin(s);
    enum status status = wait_allreduce(s->waiter, s->arenas.grads + begin, end - begin,
                                        MPI_REAL_TYPE, MPI_SUM, s->comm, OPERATION, e);
    sync_comm_end(s);
    return status;
}

static enum status sum_slices(struct sync *s, struct error *e)
{
    size_t slices = (size_t)s->config.options[SYNC_slices];
    bool from_end = s->config.options[SYNC_slices_from_end] > 0;
    for (size_t i = 0; i < slices; i++)
        TRY(sum_slice(s, from_end ? slices - 1 - i : i, slices, e));
    return OK;
}

static enum status sliced_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    for (int i = 0; i < WARM_STEPS; i++)
        TRY(sum_slices(s, e));
    return OK;
}

static enum status sliced_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                   double lr, struct error *e)
{
    TRY(sum_slices(s, e));
    return sync_update(s, o, step, lr, e);
}

const struct strategy strategy_sliced = {
    .create = sliced_create,
    .step_end = sliced_step_end,
};
