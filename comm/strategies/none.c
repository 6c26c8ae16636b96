/* No synchronisation: each rank trains on what it has. Exact at one rank, where it is the serial
 * code to compare with; at p ranks it is the compute-only curve, which separates what memory
 * bandwidth, caches and clock rates cost from what communication costs. */
#include "comm/local_ops.h"
#include "comm/strategy.h"

static enum status none_create(struct sync *s, struct error *e)
{
    return arenas_alloc(&s->arenas, e);
}

static enum status none_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                 double lr, struct error *e)
{
    (void)e;
    if (o->clip_norm > 0)
        sync_clip_alone(s, o, local_norm2(s->exec, s->arenas.grads, s->arenas.n));
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
    return OK;
}

const struct strategy strategy_none = {
    .create = none_create,
    .step_end = none_step_end,
};
