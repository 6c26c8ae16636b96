/* The rounds until everyone has met everyone: an exchange of weights with each of the others. */
#include "comm/cost/strategies/gossip.h"

#include "comm/cost/description.h"

uint64_t gossip_rounds(int ranks)
{
    return (uint64_t)(ranks % 2 == 0 ? ranks - 1 : ranks);
}

int gossip_partner(int rank, int ranks, uint64_t step)
{
    int rounds = (int)gossip_rounds(ranks), last = rounds;
    int round = (int)(step % (uint64_t)rounds), partner;
    if (rank == last) {
        /* 2 x = round: rounds is odd, so that halves exist */
        partner = round % 2 == 0 ? round / 2 : (round + rounds) / 2;
    } else {
        partner = (round - rank + rounds) % rounds;
        partner = partner == rank ? last : partner;
    }
    return partner < ranks ? partner : rank;
}

/* An exchange of the whole, both ways at the same time, and what is done with it. */
static void add_exchange(struct cost *c, const struct participant *p, size_t bytes)
{
    add_message(c, p, bytes);
    add_reduction(c, p, bytes);
    c->calls += 2;
    c->bytes_payload += 2 * bytes;
}

static struct cost gossip_cost(const struct strategy_config *config, const struct participant *p,
                               const struct gradient *g)
{
    struct cost c = {.steps = gossip_rounds(p->ranks)};
    for (int i = 0; i < p->ranks - 1; i++)
        add_exchange(&c, p, g->count * g->width);
    return c;
}

const struct strategy_desc strategy_desc_gossip = {.cost = gossip_cost};
