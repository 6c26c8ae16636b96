/* Sums gradients up a binary tree and sends the sums down again, pipelined in segments. */
#include "comm/cost/rounds.h"

/* Returns the height of a rank's subtree in edges. The parent of rank r is rank (r - 1) / 2. */
static int height_of(int rank, int ranks)
{
    int height = 0;
    for (rank = 2 * rank + 1; rank < ranks; rank = 2 * rank + 1)
        height++;
    return height;
}

static int depth_of(int rank)
{
    int depth = 0;
    for (; rank > 0; rank = (rank - 1) / 2)
        depth++;
    return depth;
}

static int tree_rounds(const struct schedule *s)
{
    return pipeline_rounds(s, height_of(0, s->ranks));
}

static void tree_round(const struct schedule *s, int i, struct round *r)
{
    struct pipeline_place place = {.parent = (s->rank - 1) / 2,
                                   .height = height_of(s->rank, s->ranks),
                                   .depth = depth_of(s->rank),
                                   .top = height_of(0, s->ranks)};
    for (int child = 2 * s->rank + 1; child <= 2 * s->rank + 2 && child < s->ranks; child++) {
        place.children[place.n_children] = child;
        place.child_heights[place.n_children++] = height_of(child, s->ranks);
    }
    pipeline_round(s, &place, i, r);
}

static const struct schedule_rule rule = {.rounds = tree_rounds, .round = tree_round};

const struct strategy_desc strategy_desc_tree = {.schedule = &rule};
