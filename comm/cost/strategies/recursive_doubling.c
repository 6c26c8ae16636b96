/* The number of ranks is first reduced to a power of two (struct fold). In each round of the
 * algorithm itself, a rank exchanges all numbers with a partner twice as far away as in the round
 * before. */
#include "comm/cost/rounds.h"

static int recursive_doubling_rounds(const struct schedule *s)
{
    struct fold f = fold_of(s->ranks);
    return f.doublings + (f.folded > 0 ? 2 : 0);
}

static void recursive_doubling_round(const struct schedule *s, int i, struct round *r)
{
    struct fold f = fold_of(s->ranks);
    if (!fold_is_between(s, &f, recursive_doubling_rounds(s), &i, r))
        return;
    int partner = fold_rank_at(&f, fold_position_of(&f, s->rank) ^ (1 << i));
    round_send(r, partner, 0, s->count);
    round_receive(r, partner, 0, s->count, true);
}

static const struct schedule_rule rule = {.rounds = recursive_doubling_rounds,
                                          .round = recursive_doubling_round};

/* Rule of adasum. Combining two vectors takes three dot products and a scaled sum: four passes. */
static const struct schedule_rule adasum_rule = {.rounds = recursive_doubling_rounds,
                                                 .round = recursive_doubling_round,
                                                 .whole = true,
                                                 .passes = 4};

const struct strategy_desc strategy_desc_recursive_doubling = {.schedule = &rule};
const struct strategy_desc strategy_desc_adasum = {.schedule = &adasum_rule};
