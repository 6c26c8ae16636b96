#include "comm/strategies/average.h"

#include "comm/local_ops.h"

enum status average_open(struct sync *s, struct error *e)
{
    struct average *a = s->context;
    TRY(MEM_KEEP(&s->memory, a->weights, s->arenas.n, "a rank's own weights", e));
    for (int i = 0; i < SYNC_WARM_CALLS; i++)
        TRY(average_params(s, e)); /* sums weights, which are still 0, to warm up connections */
    return OK;
}

enum status average_params(struct sync *s, struct error *e)
{
    TRY(sync_allreduce(s, s->arenas.params, s->arenas.n, "average of the weights", e));
    sync_scale(s, s->arenas.params, s->arenas.n, (real)(1.0 / s->ranks));
    return OK;
}

enum status average_eval_begin(struct sync *s, struct error *e)
{
    const struct average *a = s->context;
    local_copy(s->exec, a->weights, s->arenas.params, s->arenas.n * sizeof *a->weights);
    return average_params(s, e);
}

enum status average_eval_end(struct sync *s, struct error *e)
{
    const struct average *a = s->context;
    local_copy(s->exec, s->arenas.params, a->weights, s->arenas.n * sizeof *a->weights);
    return OK;
}
