/* One flat MPI_Allreduce of the whole gradient arena after backward, in place: the plainest exact
 * strategy, and the oracle that every other one must equal. */
#include "comm/strategy.h"
#include "kernels/base/clock.h"

/* MPICH changes its algorithm, and with it the order of summation, after five calls on a
 * communicator (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD). These calls on zeroes put that behind us
 * before step 1. */
#define WARM_CALLS 6

static enum status sum_gradients(struct sync *s, struct error *e)
{
    return wait_allreduce(s->waiter, s->arenas.grads, s->arenas.n, MPI_REAL_TYPE, MPI_SUM, s->comm,
                          "allreduce of the gradients", e);
}

static enum status allreduce_create(struct sync *s, struct error *e)
{
    enum status status = arenas_alloc(&s->arenas, e);
    for (int i = 0; status == OK && i < WARM_CALLS; i++)
        status = sum_gradients(s, e);
    return status;
}

static enum status allreduce_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                      double lr, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = sum_gradients(s, e);
    s->times.arrive_ns = begin_ns;
    s->times.comm_total_ns = s->times.comm_exposed_ns = clock_ns() - begin_ns;
    if (status == OK)
        sync_optimize(s, o, 0, s->arenas.n, step, lr);
    return status;
}

const struct strategy strategy_allreduce = {
    .create = allreduce_create,
    .step_end = allreduce_step_end,
};
