#include "comm/cost/approximate.h"

/* The library's non-blocking sum. Its time is hidden where computing a step takes longer. */
struct cost cost_delayed(const struct party *p, size_t count, size_t width)
{
    struct cost c = {.calls = 1,
                     .bytes_payload = count * width,
                     .wire_source = iallreduce_is_long(p->ranks, count, width)
                                        ? "formula: reduce_scatter_allgather"
                                        : "formula: recursive_doubling"};
    if (p->ranks > 1)
        add_iallreduce(&c, p, count, width);
    return c;
}

struct cost cost_local_sgd(const struct strategy_form *form, const struct party *p, size_t count,
                           size_t width)
{
    struct cost c = {.steps = form->period,
                     .calls = 1,
                     .bytes_payload = count * width,
                     .wire_source = "formula: reduce_scatter_allgather"};
    if (p->ranks > 1)
        add_allreduce(&c, p, count, width);
    return c;
}
