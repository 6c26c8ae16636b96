/* Ring allreduce: blocks go around the ring of ranks twice, and are summed on the first trip
 * (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 * 2009). */
#include "comm/cost/strategies/ring.h"

#include "comm/cost/rounds.h"

static int ring_rounds(const struct schedule *s)
{
    return 2 * (s->ranks - 1);
}

/* A rank passes on the block that it received in the round before. After p - 1 rounds, rank r has
 * the sum of block ring_block(r, p). */
static void ring_round(const struct schedule *s, int i, struct round *r)
{
    int p = s->ranks;
    round_pass_on(s, (s->rank - i + 2 * p) % p, i < p - 1, r);
}

int ring_block(int rank, int ranks)
{
    return (rank + 1) % ranks;
}

const struct schedule_rule ring_rule = {.rounds = ring_rounds, .round = ring_round};

const struct strategy_desc strategy_desc_ring = {.schedule = &ring_rule};
