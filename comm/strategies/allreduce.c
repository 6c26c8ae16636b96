/* allreduce: one flat MPI_Allreduce of the whole gradient arena after backward, in place: the
 * plainest exact strategy, and the oracle that every other one must equal.
 *
 * Costs one call of all n numbers a step; nothing is hidden behind compute. */
#include "comm/strategy.h"

#define OPERATION "allreduce of the gradients"

/* Not by sync_sum: a compressor would remember these sums. */
static enum status allreduce_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    for (int i = 0; i < SYNC_WARM_CALLS; i++)
        TRY(sync_allreduce(s, s->arenas.grads, s->arenas.n, OPERATION, e));
    return OK;
}

static enum status allreduce_sum(struct sync *s, struct error *e)
{
    return sync_sum(s, (struct range){0, s->arenas.n_tensors}, OPERATION, e);
}

const struct strategy strategy_allreduce = {
    .create = allreduce_create,
    .sum_gradients = allreduce_sum,
};
