/* Rounds of the MPI library's algorithms: which rank sends which numbers to which rank. */
#include "comm/cost/library_rules.h"

/* ---- Rings ---- */

/* Blocks travel around the ring twice and are summed on the first trip. A rank first sends the
 * block of the previous rank, unlike in the strategy `ring`. */
static int ring_rounds(const struct schedule *s)
{
    return 2 * (s->ranks - 1);
}

static void ring_round(const struct schedule *s, int i, struct round *r)
{
    int p = s->ranks;
    round_pass_on(s, (s->rank - 1 - i + 2 * p) % p, i < p - 1, r);
}

const struct schedule_rule rule_library_ring = {.rounds = ring_rounds, .round = ring_round};

/* ---- Reduce ---- */

/* Returns the number of rounds. Ranks sum blocks by recursive halving; then rank 0 collects the
 * blocks along a tree. */
static int reduce_scatter_gather_rounds(const struct schedule *s)
{
    struct fold f = fold_of(s->ranks);
    return 2 * f.doublings + (f.folded > 0);
}

/* In each pair, the rank at the lower position receives the blocks that its partner has
 * collected. */
static void collect(const struct schedule *s, const struct fold *f, int bit, struct round *r)
{
    struct halves h = halves_of(s, f, bit);
    int position = fold_position_of(f, s->rank);
    if (position >= 2 << bit)
        return;
    if ((position & (1 << bit)) != 0)
        round_send(r, h.partner, h.own, h.own_count);
    else
        round_receive(r, h.partner, h.theirs, h.theirs_count, false);
}

static void reduce_scatter_gather_round(const struct schedule *s, int i, struct round *r)
{
    struct fold f = fold_of(s->ranks);
    f.even_stays = true;
    if (f.folded > 0 && i-- == 0) {
        fold_round(s, &f, false, r);
        return;
    }
    if (fold_stands_aside(&f, s->rank))
        return;
    if (i < f.doublings) {
        struct halves h = halves_of(s, &f, i);
        halves_scatter(&h, r);
    } else {
        collect(s, &f, 2 * f.doublings - 1 - i, r);
    }
}

const struct schedule_rule rule_reduce_scatter_gather = {.rounds = reduce_scatter_gather_rounds,
                                                         .round = reduce_scatter_gather_round};

/* ---- Binomial trees ---- */

static int tree_rounds(const struct schedule *s)
{
    return binomial_levels(s->ranks);
}

/* Returns the length (child - parent) of the tree edges on which parents send to children in round
 * i. Round 0 has the longest edges. */
static int mask_down(const struct schedule *s, int i)
{
    return 1 << (binomial_levels(s->ranks) - 1 - i);
}

static void reduce_round(const struct schedule *s, int i, struct round *r)
{
    struct edge edge;
    if (binomial_edge(s, 1 << i, &edge))
        binomial_up(s, &edge, 0, s->count, true, r);
}

static void ascent_round(const struct schedule *s, int i, struct round *r)
{
    struct edge edge;
    if (binomial_edge(s, 1 << i, &edge))
        binomial_up(s, &edge, 0, s->count, false, r);
}

static void bcast_round(const struct schedule *s, int i, struct round *r)
{
    struct edge edge;
    if (binomial_edge(s, mask_down(s, i), &edge))
        binomial_down(s, &edge, 0, s->count, r);
}

/* Return the offset (subtree_first) and the count (subtree_count) of the numbers of the child's
 * subtree, if each rank has s->count numbers. */
static size_t subtree_first(const struct schedule *s, const struct edge *edge)
{
    return s->count * (size_t)edge->child;
}

static size_t subtree_count(const struct schedule *s, const struct edge *edge)
{
    return s->count * (size_t)(edge->end - edge->child);
}

static void gather_round(const struct schedule *s, int i, struct round *r)
{
    struct edge edge;
    if (binomial_edge(s, 1 << i, &edge))
        binomial_up(s, &edge, subtree_first(s, &edge), subtree_count(s, &edge), false, r);
}

static void scatter_round(const struct schedule *s, int i, struct round *r)
{
    struct edge edge;
    if (binomial_edge(s, mask_down(s, i), &edge))
        binomial_down(s, &edge, subtree_first(s, &edge), subtree_count(s, &edge), r);
}

const struct schedule_rule rule_binomial_reduce = {.rounds = tree_rounds, .round = reduce_round};
const struct schedule_rule rule_binomial_ascent = {.rounds = tree_rounds, .round = ascent_round};
const struct schedule_rule rule_binomial_bcast = {.rounds = tree_rounds, .round = bcast_round};
const struct schedule_rule rule_binomial_gather = {.rounds = tree_rounds, .round = gather_round};
const struct schedule_rule rule_binomial_scatter = {.rounds = tree_rounds, .round = scatter_round};

/* ---- Long broadcasts: blocks of ranks are scattered along a tree, then gathered by all ---- */

static void scatter_blocks(const struct schedule *s, int i, struct round *r)
{
    struct edge edge;
    size_t first, count;
    if (!binomial_edge(s, mask_down(s, i), &edge))
        return;
    block_range(s, s->ranks, edge.child, edge.end, &first, &count);
    binomial_down(s, &edge, first, count, r);
}

static int scatter_doubling_rounds(const struct schedule *s)
{
    return 2 * binomial_levels(s->ranks);
}

/* First, rank 0 scatters the blocks along a tree. Then ranks r and r ^ 1 exchange all their blocks,
 * then ranks r and r ^ 2, and so on. `ranks` must be a power of two. */
static void scatter_doubling_round(const struct schedule *s, int i, struct round *r)
{
    int levels = binomial_levels(s->ranks);
    if (i < levels) {
        scatter_blocks(s, i, r);
        return;
    }
    int size = 1 << (i - levels), group = s->rank / size * size, others = group ^ size;
    size_t first, count;
    block_range(s, s->ranks, group, group + size, &first, &count);
    round_send(r, s->rank ^ size, first, count);
    block_range(s, s->ranks, others, others + size, &first, &count);
    round_receive(r, s->rank ^ size, first, count, false);
}

static int scatter_ring_rounds(const struct schedule *s)
{
    return binomial_levels(s->ranks) + s->ranks - 1;
}

static void scatter_ring_round(const struct schedule *s, int i, struct round *r)
{
    int levels = binomial_levels(s->ranks);
    if (i < levels)
        scatter_blocks(s, i, r);
    else
        round_pass_on(s, (s->rank - (i - levels) + s->ranks) % s->ranks, false, r);
}

const struct schedule_rule rule_scatter_doubling = {.rounds = scatter_doubling_rounds,
                                                    .round = scatter_doubling_round};
const struct schedule_rule rule_scatter_ring = {.rounds = scatter_ring_rounds,
                                                .round = scatter_ring_round};
