/* In each step, pairs of ranks exchange weights. The sequence of pairs begins again when each rank
 * has exchanged weights with every other rank. */
#include "comm/cost/strategies/gossip.h"

#include "comm/cost/rounds.h"

uint64_t gossip_rounds(int ranks)
{
    return (uint64_t)(ranks % 2 == 0 ? ranks - 1 : ranks);
}

int gossip_partner(int rank, int ranks, uint64_t step)
{
    int rounds = (int)gossip_rounds(ranks), last = rounds;
    int round = (int)(step % (uint64_t)rounds), partner;
    if (rank == last) {
        /* the partner x solves 2 x = round modulo rounds; `rounds` is odd */
        partner = round % 2 == 0 ? round / 2 : (round + rounds) / 2;
    } else {
        partner = (round - rank + rounds) % rounds;
        partner = partner == rank ? last : partner;
    }
    return partner < ranks ? partner : rank;
}

static int rounds(const struct schedule *s)
{
    return (int)gossip_rounds(s->ranks);
}

/* A rank without a partner sends nothing. */
static void gossip_round(const struct schedule *s, int i, struct round *r)
{
    int partner = gossip_partner(s->rank, s->ranks, (uint64_t)i + 1);
    if (partner == s->rank)
        return;
    round_send(r, partner, 0, s->count);
    round_receive(r, partner, 0, s->count, true);
}

static const struct schedule_rule rule = {.rounds = rounds, .round = gossip_round};

static void gossip_program(const struct step *s, struct reader *to)
{
    reader_give(to, (struct operation){
                        .rule = &rule, .count = s->g->count, .width = s->g->width, .single = true});
}

static uint64_t gossip_steps(const struct step *s)
{
    return gossip_rounds(s->ranks);
}

const struct strategy_desc strategy_desc_gossip = {.program = gossip_program,
                                                   .steps = gossip_steps};
