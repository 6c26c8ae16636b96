/* Schedules that go between nodes otherwise than within them. */
#include "comm/cost/rounds.h"

/* ---- Between nodes ---- */

/* Ranks of the same place, one a node, sum numbers [first, first + count) of theirs: Rabenseifner's
 * fewest messages where nodes are a power of two, else a ring, which then sends less. */
static struct schedule between_nodes(const struct schedule *s, size_t count)
{
    bool power_of_two = (s->view.nodes & (s->view.nodes - 1)) == 0;
    return (struct schedule){.strategy = power_of_two ? STRATEGY_rabenseifner : STRATEGY_ring,
                             .rank = s->view.node,
                             .ranks = s->view.nodes,
                             .count = count,
                             .segment = s->segment};
}

/* From nodes and a slice to ranks and the whole. */
static void translate(const struct schedule *s, size_t first, struct transfer *t, int n)
{
    for (int k = 0; k < n; k++) {
        t[k].rank = node_rank_at(&s->map, t[k].rank, s->view.place);
        t[k].first += first;
    }
}

static void between_nodes_round(const struct schedule *s, size_t first, size_t count, int i,
                                struct round *r)
{
    const struct schedule between = between_nodes(s, count);
    schedule_round(&between, i, r);
    translate(s, first, r->sends, r->n_sends);
    translate(s, first, r->receives, r->n_receives);
}

static int between_nodes_rounds(const struct schedule *s)
{
    const struct schedule between = between_nodes(s, s->count);
    return schedule_rounds(&between);
}

/* ---- Hierarchical ---- */

/* Who holds a slice at the end of the first part; no numbers where nobody does. */
static void slice_of(const struct schedule *s, int place, size_t *first, size_t *count)
{
    *first = *count = 0;
    if (place < s->view.least)
        block_range(s->count, s->view.least, place, place + 1, first, count);
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

int hierarchical_rounds(const struct schedule *s)
{
    return 2 * (s->view.most - 1) + between_nodes_rounds(s);
}

void hierarchical_round(const struct schedule *s, int i, struct round *r)
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

/* ---- Leader ---- */

/* Of the binomial tree over the largest node. */
static int tree_height(const struct schedule *s)
{
    int height = 0;
    while (1 << height < s->view.most)
        height++;
    return height;
}

/* Over the edges of length `mask`: sums on their way up, then the result on its way down. */
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

int leader_rounds(const struct schedule *s)
{
    return 2 * tree_height(s) + between_nodes_rounds(s);
}

void leader_round(const struct schedule *s, int i, struct round *r)
{
    int height = tree_height(s), between = between_nodes_rounds(s);
    if (i < height)
        tree_level_round(s, 1 << i, true, r);
    else if (i >= height + between)
        tree_level_round(s, 1 << (2 * height + between - 1 - i), false, r);
    else if (s->view.place == 0)
        between_nodes_round(s, 0, s->count, i - height, r);
}
