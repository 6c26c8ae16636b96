/* Blocks go around, summed on the first round trip (Patarasuk and Yuan, "Bandwidth optimal
 * all-reduce algorithms for clusters of workstations", 2009). */
#include "comm/cost/strategies/ring.h"

#include "comm/cost/rounds.h"

static int ring_rounds(const struct schedule *s)
{
    return 2 * (s->ranks - 1);
}

/* What is passed on in a round is what came in the one before; after p - 1 rounds a rank holds the
 * sum of ring_block. */
static void ring_round(const struct schedule *s, int i, struct round *r)
{
    int p = s->ranks;
    int passed = (s->rank - i + 2 * p) % p, taken = (passed + p - 1) % p;
    size_t first, count;
    block_range(s->count, p, passed, passed + 1, &first, &count);
    round_send(r, (s->rank + 1) % p, first, count);
    block_range(s->count, p, taken, taken + 1, &first, &count);
    round_receive(r, (s->rank + p - 1) % p, first, count, i < p - 1);
}

int ring_block(int rank, int ranks)
{
    return (rank + 1) % ranks;
}

const struct schedule_rule ring_rule = {.rounds = ring_rounds, .round = ring_round};

const struct strategy_desc strategy_desc_ring = {.schedule = &ring_rule};
