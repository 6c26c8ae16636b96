/* Halves of what is left with partners twice as far away each round, and back (Thakur, Rabenseifner
 * and Gropp, 2005). Where there is no power of two of ranks, pairs fold into one first. */
#include "comm/cost/rounds.h"

static int rabenseifner_rounds(const struct schedule *s)
{
    struct fold f = fold_of(s->ranks);
    return 2 * f.doublings + (f.folded > 0 ? 2 : 0);
}

/* The blocks that a position answers for after so many halvings. */
static void held_blocks(const struct fold *f, int position, int halvings, int *begin, int *end)
{
    *begin = 0;
    *end = f->blocks;
    for (int i = 0; i < halvings; i++) {
        int middle = (*begin + *end) / 2;
        if ((position & (1 << i)) != 0)
            *begin = middle;
        else
            *end = middle;
    }
}

static void rabenseifner_round(const struct schedule *s, int i, struct round *r)
{
    struct fold f = fold_of(s->ranks);
    if (!fold_is_between(s, &f, rabenseifner_rounds(s), &i, r))
        return;
    bool halving = i < f.doublings;
    int bit = halving ? i : 2 * f.doublings - 1 - i;
    int position = fold_position_of(&f, s->rank), other = position ^ (1 << bit);
    int begin, end;
    size_t kept, kept_count, given, given_count;
    held_blocks(&f, position, bit + 1, &begin, &end);
    block_range(s->count, f.blocks, begin, end, &kept, &kept_count);
    held_blocks(&f, other, bit + 1, &begin, &end);
    block_range(s->count, f.blocks, begin, end, &given, &given_count);
    if (halving) {
        round_send(r, fold_rank_at(&f, other), given, given_count);
        round_receive(r, fold_rank_at(&f, other), kept, kept_count, true);
    } else {
        round_send(r, fold_rank_at(&f, other), kept, kept_count);
        round_receive(r, fold_rank_at(&f, other), given, given_count, false);
    }
}

static const struct schedule_rule rule = {.rounds = rabenseifner_rounds,
                                          .round = rabenseifner_round};

const struct strategy_desc strategy_desc_rabenseifner = {.schedule = &rule};
