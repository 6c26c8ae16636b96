/* One flat MPI_Allreduce of the whole gradient arena after backward, in place: the plainest exact
 * strategy, and the oracle that every other one must equal. */
#include "comm/strategy.h"

/* MPICH changes its algorithm, and with it the order of summation, after five calls on a
 * communicator (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD). These calls on zeroes put that behind us
 * before step 1. */
#define WARM_CALLS 6

#define OPERATION "allreduce of the gradients"

/* Past a compressor, which would have something to remember. */
static enum status warm_up(struct sync *s, struct error *e)
{
    return wait_allreduce(s->waiter, s->arenas.grads, s->arenas.n, MPI_REAL_TYPE, MPI_SUM, s->comm,
                          OPERATION, e);
}

static enum status allreduce_create(struct sync *s, struct error *e)
{
    enum status status = arenas_alloc(&s->arenas, e);
    for (int i = 0; status == OK && i < WARM_CALLS; i++)
        status = warm_up(s, e);
    return status;
}

static enum status allreduce_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                      double lr, struct error *e)
{
    enum status status = sync_sum(s, (struct range){0, s->arenas.n_tensors}, OPERATION, e);
    return status == OK ? sync_update(s, o, step, lr, e) : status;
}

const struct strategy strategy_allreduce = {
    .create = allreduce_create,
    .step_end = allreduce_step_end,
};
