/* Rabenseifner's allreduce (Thakur, Rabenseifner and Gropp, 2005). In each round, two partners
 * exchange halves of the blocks that both hold. Each adds the received half to the half that it
 * keeps. The distance between partners doubles from round to round. Then the same pairs, in reverse
 * order, send each other their sums. Ranks first fold to a power of two (struct fold). */
#include "comm/cost/rounds.h"

static int rabenseifner_rounds(const struct schedule *s)
{
    struct fold f = fold_of(s->ranks);
    return 2 * f.doublings + (f.folded > 0 ? 2 : 0);
}

static void rabenseifner_round(const struct schedule *s, int i, struct round *r)
{
    struct fold f = fold_of(s->ranks);
    if (!fold_is_between(s, &f, rabenseifner_rounds(s), &i, r))
        return;
    bool scatters = i < f.doublings;
    struct halves h = halves_of(s, &f, scatters ? i : 2 * f.doublings - 1 - i);
    if (scatters)
        halves_scatter(&h, r);
    else
        halves_gather(&h, r);
}

static const struct schedule_rule rule = {.rounds = rabenseifner_rounds,
                                          .round = rabenseifner_round};

const struct strategy_desc strategy_desc_rabenseifner = {.schedule = &rule};
