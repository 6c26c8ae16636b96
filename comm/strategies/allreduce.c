/* allreduce: one MPI_Allreduce of the whole gradient arena after backward, in place. It is the
 * simplest exact strategy and the reference for all others.
 *
 * allreduce_layer: one MPI_Allreduce per tensor after backward, in place and in the order of the
 * tensors. Training scripts without a flat gradient array do the same. Most tensors are small, so
 * latency matters. In both strategies, a compressor, if configured, computes the sums in place of
 * these calls. */
#include "comm/compress.h"

typedef enum status sum_range(struct sync *s, struct range tensors, const char *operation,
                              struct error *e);

static enum status for_each_sum(struct sync *s, sum_range *sum, struct error *e)
{
    bool is_flat = s->kind == STRATEGY_allreduce;
    int n = s->arenas.n_tensors, step = is_flat ? n : 1;
    const char *operation =
        is_flat ? "allreduce of the gradients" : "allreduce of one tensor's gradients";
    for (int i = 0; i < n; i += step)
        TRY(sum(s, (struct range){i, i + step}, operation, e));
    return OK;
}

/* Sums zeros to warm up connections. Does not use sync_sum, which would change the saved state of a
 * compressor. */
static enum status warm_up(struct sync *s, struct range tensors, const char *operation,
                           struct error *e)
{
    const struct span span = span_of(&s->arenas, tensors);
    return sync_allreduce(s, s->arenas.grads + span.begin, span.n, operation, e);
}

static enum status allreduce_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    for (int i = 0; i < SYNC_WARM_CALLS; i++)
        TRY(for_each_sum(s, warm_up, e));
    return OK;
}

static enum status allreduce_sum(struct sync *s, struct error *e)
{
    return for_each_sum(s, sync_sum, e);
}

const struct strategy strategy_allreduce = {
    .create = allreduce_create,
    .sum_gradients = allreduce_sum,
};

const struct strategy strategy_allreduce_layer = {
    .create = allreduce_create,
    .sum_gradients = allreduce_sum,
};
