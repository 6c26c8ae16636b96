/* Each rank of a node sums one slice over its node. Then the ranks with the same place on their
 * nodes sum their slices, and the ranks of a node exchange the sums (Horovod's hierarchical
 * allreduce). There are as many slices as the smallest node has ranks. Further ranks have no slice:
 * they send their numbers and receive the sums. */
#include "comm/cost/rounds.h"

/* Finds the slice that is summed by the rank at position `place` on its node. *count = 0: the rank
 * sums no slice. */
static void slice_of(const struct schedule *s, int place, size_t *first, size_t *count)
{
    *first = *count = 0;
    if (place < s->view.least)
        block_range(s, s->view.least, place, place + 1, first, count);
}

/* In round i a rank sends to the rank i + 1 places after it. If `scatters`, it sends the receiver's
 * slice, which the receiver adds. Otherwise it sends its own finished slice. */
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
