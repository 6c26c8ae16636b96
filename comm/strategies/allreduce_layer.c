/* One MPI_Allreduce a tensor after backward, in place and in the order of the table: what a
 * training script without a flat gradient does. Small tensors are as many as in the net, so latency
 * counts. */
#include "comm/strategy.h"

/* As with allreduce: the library changes its algorithm after five calls. */
#define WARM_PASSES 6

#define OPERATION "allreduce of one tensor's gradients"

/* Past a compressor, which would have something to remember. */
static enum status warm_up(struct sync *s, struct error *e)
{
    enum status status = OK;
    for (int i = 0; i < s->arenas.n_tensors && status == OK; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        status = wait_allreduce(s->waiter, s->arenas.grads + t->offset, t->count, MPI_REAL_TYPE,
                                MPI_SUM, s->comm, OPERATION, e);
    }
    return status;
}

static enum status allreduce_layer_create(struct sync *s, struct error *e)
{
    enum status status = arenas_alloc(&s->arenas, e);
    for (int i = 0; status == OK && i < WARM_PASSES; i++)
        status = warm_up(s, e);
    return status;
}

static enum status allreduce_layer_step_end(struct sync *s, const struct optimizer *o,
                                            uint64_t step, double lr, struct error *e)
{
    enum status status = OK;
    for (int i = 0; i < s->arenas.n_tensors && status == OK; i++)
        status = sync_sum(s, (struct range){i, i + 1}, OPERATION, e);
    return status == OK ? sync_update(s, o, step, lr, e) : status;
}

const struct strategy strategy_allreduce_layer = {
    .create = allreduce_layer_create,
    .step_end = allreduce_layer_step_end,
};
