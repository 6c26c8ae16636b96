/* The ranks of a node sum a slice each; ranks of equal place on all nodes sum theirs; slices go
 * around the node (Horovod's hierarchical allreduce). Nodes have as many slices as the smallest of
 * them has ranks, so that every slice finds its place on every node: the ranks of larger nodes
 * beyond that give their numbers and get the sums, and hold no slice. What crosses the network is
 * the same however many slices there are. */
#include "comm/cost/rounds.h"

/* Who holds a slice at the end of the first part; no numbers where nobody does. */
static void slice_of(const struct schedule *s, int place, size_t *first, size_t *count)
{
    *first = *count = 0;
    if (place < s->view.least)
        block_range(s, s->view.least, place, place + 1, first, count);
}

/* In round i of a node everyone sends to the rank i + 1 places on and hears from the one as far
 * back: first slices for those that hold them, in the end slices by those that do. */
static void within_node_round(const struct schedule *s, int i, bool scatters, struct round *r)
{
    const struct node_view *v = &s->view;
    if (i + 1 >= v->size)
        return;
    int to = (v->place + i + 1) % v->size, from = (v->place + v->size - i - 1) % v->size;
    size_t first, count;
    slice_of(s, scatters ? to : v->place, &first, &count);
    if (count > 0)
        round_send(r, node_rank_at(&s->map, v->node, to), first, count);
    slice_of(s, scatters ? v->place : from, &first, &count);
    if (count > 0)
        round_receive(r, node_rank_at(&s->map, v->node, from), first, count, scatters);
}

static int hierarchical_rounds(const struct schedule *s)
{
    return 2 * (s->view.most - 1) + between_nodes_rounds(s);
}

static void hierarchical_round(const struct schedule *s, int i, struct round *r)
{
    int within = s->view.most - 1, between = between_nodes_rounds(s);
    size_t first, count;
    slice_of(s, s->view.place, &first, &count);
    if (i < within)
        within_node_round(s, i, true, r);
    else if (i >= within + between)
        within_node_round(s, i - within - between, false, r);
    else if (s->view.place < s->view.least)
        between_nodes_round(s, first, count, i - within, r);
}

static const struct schedule_rule rule = {
    .rounds = hierarchical_rounds, .round = hierarchical_round, .knows_nodes = true};

const struct strategy_desc strategy_desc_hierarchical = {.schedule = &rule};
