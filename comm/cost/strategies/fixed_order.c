/* Segments go up the chain of ranks and down again. Every sum adds ranks 0, 1, 2 ... in this order,
 * so that its bits do not depend on the segments. */
#include "comm/cost/rounds.h"

static int fixed_order_rounds(const struct schedule *s)
{
    return pipeline_rounds(s, s->ranks - 1);
}

/* The last rank is the root. Rank r passes the sum over ranks [0, r] to rank r + 1. */
static void fixed_order_round(const struct schedule *s, int i, struct round *r)
{
    const struct pipeline_place place = {.parent = s->rank + 1,
                                         .height = s->rank,
                                         .depth = s->ranks - 1 - s->rank,
                                         .children = {s->rank - 1},
                                         .child_heights = {s->rank - 1},
                                         .n_children = s->rank > 0,
                                         .top = s->ranks - 1};
    pipeline_round(s, &place, i, r);
}

static const struct schedule_rule rule = {.rounds = fixed_order_rounds, .round = fixed_order_round};

const struct strategy_desc strategy_desc_fixed_order = {.schedule = &rule};
