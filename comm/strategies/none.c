/* none: no synchronisation; each rank trains on what it has. Exact at one rank, where it is the
 * serial code to compare with; at p ranks it is the compute-only curve, which separates what memory
 * bandwidth, caches and clock rates cost from what communication costs.
 *
 * Costs no message. */
#include "comm/strategy.h"

static enum status none_create(struct sync *s, struct error *e)
{
    return arenas_alloc(&s->arenas, e);
}

static enum status none_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                 double lr, struct error *e)
{
    sync_update_alone(s, o, step, lr);
    return OK;
}

const struct strategy strategy_none = {
    .create = none_create,
    .step_end = none_step_end,
};
