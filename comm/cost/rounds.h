/* What schedules are put together from. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

void round_send(struct round *r, int to, size_t first, size_t count);
/* To be added to this rank's own, or in their place. */
void round_receive(struct round *r, int from, size_t first, size_t count, bool add);

/* Numbers [*first, *first + *count) of blocks [begin, end) when `numbers` are cut into `blocks`. */
void block_range(size_t numbers, int blocks, int begin, int end, size_t *first, size_t *count);

/* ---- Folding ---- */

/* Where ranks are no power of two: of ranks 0 to 2 folded - 1 the odd ones carry on for the even
 * ones. */
struct fold {
    int blocks, folded; /* ranks that carry on: a power of two; pairs */
    int doublings;      /* lg blocks */
};
struct fold fold_of(int ranks);
int fold_position_of(const struct fold *f, int rank);
int fold_rank_at(const struct fold *f, int position);

/* Index of a round among those between folding and unfolding; false for these two, which are filled
 * in, and for a rank that stands aside. */
bool fold_is_between(const struct schedule *s, const struct fold *f, int rounds, int *i,
                     struct round *r);

/* ---- Pipelines ---- */

/* Where a rank is below a root. */
struct pipeline_place {
    int parent, height, depth;
    int children[2], child_heights[2], n_children;
    int top; /* height of the root */
};
int pipeline_rounds(const struct schedule *s, int top);
void pipeline_round(const struct schedule *s, const struct pipeline_place *place, int i,
                    struct round *r);

/* ---- Between nodes ---- */

/* Ranks of the same place, one a node, sum numbers [first, first + count) of theirs. */
int between_nodes_rounds(const struct schedule *s);
void between_nodes_round(const struct schedule *s, size_t first, size_t count, int i,
                         struct round *r);
