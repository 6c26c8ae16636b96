#include "comm/cost/exchange.h"

#include "comm/cost/rounds.h"
#include "kernels/base/pool.h"

size_t share_bytes(size_t count, int rank, int ranks, size_t width)
{
    size_t begin, end;
    pool_share(count, (size_t)rank, (size_t)ranks, &begin, &end);
    return (end - begin) * width;
}

size_t packet_round_up(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* ---- Rules ---- */

static int others(const struct schedule *s)
{
    return s->ranks - 1;
}

static void share_of(const struct schedule *s, int owner, size_t *first, size_t *count)
{
    block_range(s, s->owners, owner, owner + 1, first, count);
}

static void shares_scatter_round(const struct schedule *s, int i, struct round *r)
{
    int to = (s->rank + 1 + i) % s->ranks, from = (s->rank - 1 - i + s->ranks) % s->ranks;
    size_t first, count;
    if (to < s->owners) {
        share_of(s, to, &first, &count);
        round_send(r, to, first, count);
    }
    if (s->rank < s->owners) {
        share_of(s, s->rank, &first, &count);
        round_receive(r, from, first, count, true);
    }
}

static void shares_gather_round(const struct schedule *s, int i, struct round *r)
{
    int to = (s->rank + 1 + i) % s->ranks, from = (s->rank - 1 - i + s->ranks) % s->ranks;
    size_t first, count;
    if (s->rank < s->owners) {
        share_of(s, s->rank, &first, &count);
        round_send(r, to, first, count);
    }
    if (from < s->owners) {
        share_of(s, from, &first, &count);
        round_receive(r, from, first, count, false);
    }
}

const struct schedule_rule rule_shares_scatter = {
    .rounds = others, .round = shares_scatter_round, .posted = true};
const struct schedule_rule rule_shares_gather = {
    .rounds = others, .round = shares_gather_round, .posted = true};

static int once(const struct schedule *s)
{
    return s->ranks > 1;
}

static void add_round(const struct schedule *s, int i, struct round *r)
{
    r->added = s->count;
}

static void add_at_root_round(const struct schedule *s, int i, struct round *r)
{
    r->added = s->rank == 0 ? s->count : 0;
}

const struct schedule_rule rule_add = {.rounds = once, .round = add_round};
const struct schedule_rule rule_add_at_root = {.rounds = once, .round = add_at_root_round};

/* ---- Operations ---- */

void give_shares(const struct step *s, struct reader *to, const struct schedule_rule *rule,
                 size_t count, size_t width)
{
    reader_give(
        to, (struct operation){.rule = rule, .count = count, .width = width, .owners = s->ranks});
}

void give_packets(const struct step *s, struct reader *to, size_t bytes)
{
    give_shares(s, to, &rule_shares_gather, (size_t)s->ranks * bytes, 1);
}

void give_additions(struct reader *to, size_t count, size_t width)
{
    reader_give(to, (struct operation){.rule = &rule_add, .count = count, .width = width});
}
