/* none: each rank trains on its own part of the data and sends no message. With one rank this is
 * the serial baseline. With p ranks it shows the cost of sharing memory bandwidth, caches and clock
 * rate. */
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
