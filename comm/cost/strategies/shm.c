/* Each rank sums its share of all ranks' gradients in shared memory. */
#include "comm/cost/strategies/shm.h"

#include "comm/cost/rounds.h"

/* ---- Rules ---- */

static int twice(const struct schedule *s)
{
    return s->ranks > 1 ? 2 : 0;
}

static int once(const struct schedule *s)
{
    return s->ranks > 1;
}

static size_t share_of(const struct schedule *s)
{
    size_t first, count;
    block_range(s, s->ranks, s->rank, s->rank + 1, &first, &count);
    return count;
}

static void sum_round(const struct schedule *s, int i, struct round *r)
{
    r->meets = true;
    if (i == 0)
        r->added = r->copied = share_of(s) * (size_t)(s->ranks - 1);
}

static void copy_round(const struct schedule *s, int i, struct round *r)
{
    r->copied = s->count - share_of(s);
}

static void meeting_round(const struct schedule *s, int i, struct round *r)
{
    r->meets = true;
}

static const struct schedule_rule sum = {.rounds = twice, .round = sum_round};
static const struct schedule_rule copy = {.rounds = once, .round = copy_round};
static const struct schedule_rule meeting = {.rounds = once, .round = meeting_round};

/* ---- Operations ---- */

static void give(const struct step *s, struct reader *to, const struct schedule_rule *rule,
                 size_t count)
{
    reader_give(to, (struct operation){.rule = rule, .count = count, .width = s->g->width});
}

void give_shared_sum(const struct step *s, struct reader *to, size_t count)
{
    give(s, to, &sum, count);
}

void give_shared_copy(const struct step *s, struct reader *to, size_t count)
{
    give(s, to, &copy, count);
}

void give_meeting(const struct step *s, struct reader *to)
{
    give(s, to, &meeting, 0);
}

static void shm_program(const struct step *s, struct reader *to)
{
    give_shared_sum(s, to, s->g->count);
}

const struct strategy_desc strategy_desc_shm = {.program = shm_program, .source = source_none};
