/* none: no synchronisation; each rank trains on its own part of the data. With one rank this is the
 * serial baseline. With p ranks it gives the compute-only curve, which shows the cost of shared
 * memory bandwidth, caches and clock rates without communication.
 *
 * Sends no message. */
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
