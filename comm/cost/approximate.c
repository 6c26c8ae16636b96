#include "comm/cost/approximate.h"

#include "kernels/base/pool.h"

/* One sum by the library, as it chooses. */
static struct cost cost_sum(const struct party *p, enum call_kind call, size_t count, size_t width)
{
    enum allreduce_algorithm algorithm =
        allreduce_algorithm(ALGORITHM_auto, call, p->ranks, count, width);
    struct cost c = {.calls = 1,
                     .bytes_payload = count * width,
                     .wire_source = algorithm == ALGORITHM_recursive_doubling
                                        ? "formula: recursive_doubling"
                                        : "formula: reduce_scatter_allgather"};
    if (p->ranks > 1 && count > 0)
        add_allreduce(&c, p, algorithm, count, width);
    return c;
}

/* The library's non-blocking sum. Its time is hidden where computing a step takes longer. */
struct cost cost_delayed(const struct party *p, size_t count, size_t width)
{
    return cost_sum(p, CALL_NONBLOCKING, count, width);
}

struct cost cost_local_sgd(const struct strategy_config *config, const struct party *p,
                           size_t count, size_t width)
{
    struct cost c = cost_sum(p, CALL_BLOCKING, count, width);
    c.steps = config->period;
    return c;
}

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
static void add_exchange(struct cost *c, const struct party *p, size_t bytes)
{
    add_message(c, p, bytes);
    add_reduction(c, p, bytes);
    c->calls += 2;
    c->bytes_payload += 2 * bytes;
}

struct cost cost_gossip(const struct party *p, size_t count, size_t width)
{
    struct cost c = {.steps = gossip_rounds(p->ranks), .wire_source = WIRE_COUNTED};
    for (int i = 0; i < p->ranks - 1; i++)
        add_exchange(&c, p, count * width);
    return c;
}

static int lower_power_of_two(int ranks)
{
    int power = 1;
    while (2 * power <= ranks)
        power *= 2;
    return power;
}

int adasum_rounds(int ranks)
{
    int power = lower_power_of_two(ranks), rounds = power < ranks ? 2 : 0;
    for (; power > 1; power /= 2)
        rounds++;
    return rounds;
}

struct adasum_round adasum_round(int rank, int ranks, int i)
{
    int folded = ranks - lower_power_of_two(ranks), rounds = adasum_rounds(ranks);
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

struct cost cost_adasum(const struct party *p, size_t count, size_t width)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    size_t bytes = count * width;
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

static size_t part_bytes(size_t count, int server, int servers, size_t width)
{
    size_t begin, end;
    pool_share(count, (size_t)server, (size_t)servers, &begin, &end);
    return (end - begin) * width;
}

/* A message out and one in, one after the other. */
static void add_push_or_answer(struct cost *c, const struct party *p, size_t bytes)
{
    add_message(c, p, bytes);
    add_receipt(c, p, bytes);
    c->calls += 2;
    c->bytes_payload += 2 * bytes;
}

struct cost cost_param_server(const struct strategy_config *config, const struct party *p,
                              size_t count, size_t width)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    int servers = config->servers > 1 ? config->servers : 1;
    for (int j = 0; j < servers; j++)
        if (j != p->rank)
            add_push_or_answer(&c, p, part_bytes(count, j, servers, width));
    for (int r = 0; r < p->ranks && p->rank < servers; r++) {
        if (r == p->rank)
            continue;
        size_t bytes = part_bytes(count, p->rank, servers, width);
        add_push_or_answer(&c, p, bytes);
        add_reduction(&c, p, bytes);
    }
    return c;
}
