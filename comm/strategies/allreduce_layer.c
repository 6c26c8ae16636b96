/* allreduce_layer: one MPI_Allreduce a tensor after backward, in place and in the order of the
 * table: what a training script without a flat gradient does.
 *
 * Costs as many calls a step as the net has tensors: most of these are small, so latency counts. */
#include "comm/strategy.h"

#define OPERATION "allreduce of one tensor's gradients"

/* Not by sync_sum: a compressor would remember these sums. */
static enum status warm_up(struct sync *s, struct error *e)
{
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        TRY(sync_allreduce(s, s->arenas.grads + t->offset, t->count, OPERATION, e));
    }
    return OK;
}

static enum status allreduce_layer_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    for (int i = 0; i < SYNC_WARM_CALLS; i++)
        TRY(warm_up(s, e));
    return OK;
}

static enum status allreduce_layer_sum(struct sync *s, struct error *e)
{
    for (int i = 0; i < s->arenas.n_tensors; i++)
        TRY(sync_sum(s, (struct range){i, i + 1}, OPERATION, e));
    return OK;
}

const struct strategy strategy_allreduce_layer = {
    .create = allreduce_layer_create,
    .sum_gradients = allreduce_layer_sum,
};
