#include "comm/cost/schedule.h"

size_t schedule_messages(const struct schedule *s, size_t count)
{
    return s->single ? 1 : (count + s->segment - 1) / s->segment;
}

int schedule_rounds(const struct schedule *s)
{
    return s->rule->rounds(s);
}

void schedule_round(const struct schedule *s, int i, struct round *round)
{
    round->n_sends = round->n_receives = 0;
    round->added = round->copied = 0;
    round->meets = false;
    s->rule->round(s, i, round);
}
