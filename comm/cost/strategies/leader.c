/* Sums on two levels, as MPICH does. In each node, a binomial tree sums the ranks' numbers at the
 * first rank. Then the first ranks sum over nodes. Finally each first rank sends the sum down its
 * node's tree. */
#include "comm/cost/rounds.h"

/* Returns the height of the binomial tree over the largest node. */
static int tree_height(const struct schedule *s)
{
    int height = 0;
    while (1 << height < s->view.most)
        height++;
    return height;
}

/* Appends to *r this rank's transfer at one level of its node's tree; nothing if this rank has no
 * transfer at this level. If `up`, sums move up the tree, otherwise the result moves down. `mask`:
 * difference of the two ranks' places. */
static void tree_level_round(const struct schedule *s, int mask, bool up, struct round *r)
{
    const struct node_view *v = &s->view;
    bool below = v->place % (2 * mask) == mask;
    int other = below ? v->place - mask : v->place + mask;
    if (v->place % mask != 0 || other >= v->size || s->count == 0)
        return;
    int rank = node_rank_at(&s->map, v->node, other);
    if (below == up)
        round_send(r, rank, 0, s->count);
    else
        round_receive(r, rank, 0, s->count, up);
}

static int leader_rounds(const struct schedule *s)
{
    return 2 * tree_height(s) + between_nodes_rounds(s);
}

static void leader_round(const struct schedule *s, int i, struct round *r)
{
    int height = tree_height(s), between = between_nodes_rounds(s);
    if (i < height)
        tree_level_round(s, 1 << i, true, r);
    else if (i >= height + between)
        tree_level_round(s, 1 << (2 * height + between - 1 - i), false, r);
    else if (s->view.place == 0)
        between_nodes_round(s, 0, s->count, i - height, r);
}

static const struct schedule_rule rule = {
    .rounds = leader_rounds, .round = leader_round, .knows_nodes = true};

const struct strategy_desc strategy_desc_leader = {.schedule = &rule};
