/* Whole vectors by recursive doubling, each combined with what comes. */
#include "comm/cost/strategies/adasum.h"

#include "comm/cost/description.h"

int adasum_rounds(int ranks)
{
    int power = floor_power_of_two(ranks), rounds = power < ranks ? 2 : 0;
    for (; power > 1; power /= 2)
        rounds++;
    return rounds;
}

struct adasum_round adasum_round(int rank, int ranks, int i)
{
    int folded = ranks - floor_power_of_two(ranks), rounds = adasum_rounds(ranks);
    bool pairs = rank < 2 * folded, out = pairs && rank % 2 == 0;
    struct adasum_round round = {.partner = rank};
    if (folded > 0 && (i == 0 || i == rounds - 1)) {
        bool first = i == 0;
        if (pairs)
            round = (struct adasum_round){.partner = rank ^ 1,
                                          .sends = out == first,
                                          .receives = out != first,
                                          .combines = !out && first};
        return round;
    }
    if (out)
        return round;
    /* Numbers of those that are left, and back */
    int number = pairs ? rank / 2 : rank - folded, other = number ^ (1 << (i - (folded > 0)));
    round.partner = other < folded ? 2 * other + 1 : other + folded;
    round.sends = round.receives = round.combines = true;
    return round;
}

static struct cost adasum_cost(const struct strategy_config *config, const struct participant *p,
                               const struct gradient *g)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    size_t bytes = g->count * g->width;
    for (int i = 0; i < adasum_rounds(p->ranks); i++) {
        const struct adasum_round round = adasum_round(p->rank, p->ranks, i);
        int messages = round.sends + round.receives;
        c.calls += (uint64_t)messages;
        c.bytes_payload += (uint64_t)messages * bytes;
        if (round.sends)
            add_message(&c, p, bytes);
        else if (round.receives)
            add_receipt(&c, p, bytes);
        /* three products and two scaled terms, each a pass over both */
        for (int pass = 0; pass < 4 && round.combines; pass++)
            add_reduction(&c, p, bytes);
    }
    return c;
}

const struct strategy_desc strategy_desc_adasum = {.cost = adasum_cost};
