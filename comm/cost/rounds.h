/* Building blocks for the rules of collective operations (schedule.h). Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

void round_send(struct round *r, int to, size_t first, size_t count);
/* Adds a receive to the round. `add`: adds received numbers to this rank's own numbers; else
 * received numbers replace them. */
void round_receive(struct round *r, int from, size_t first, size_t count, bool add);

/* Divides the schedule's numbers into `blocks` blocks. Sets *first and *count so that blocks
 * [begin, end) contain numbers [*first, *first + *count). */
void block_range(const struct schedule *s, int blocks, int begin, int end, size_t *first,
                 size_t *count);

/* Adds the transfers of a ring to the round: this rank sends block `sent` to the next rank, and
 * receives the block before `sent` from the previous rank. */
void round_pass_on(const struct schedule *s, int sent, bool add, struct round *r);

/* ---- Folding ---- */

/* Reduction of the ranks to a power of two. Ranks [0, 2 * folded) form pairs. One rank of each pair
 * continues with the pair's sum. The other rank pauses and receives the result at the end. */
struct fold {
    int blocks, folded; /* number of ranks that continue after the first round, a power of two;
                           number of pairs of ranks that the first round folds into one rank each */
    int doublings;      /* log2(blocks) */
    /* whether the even rank of each pair continues, as a reduction to rank 0 requires; false: the
     * odd rank continues */
    bool even_stays;
};
struct fold fold_of(int ranks);
int fold_position_of(const struct fold *f, int rank);
int fold_rank_at(const struct fold *f, int position);
/* Returns whether `rank` pauses while its partner in the pair continues. */
bool fold_stands_aside(const struct fold *f, int rank);
/* Fills in the transfers of the first round, in which ranks that pause send their numbers. `last`:
 * transfers of the last round, in which paused ranks receive the result. */
void fold_round(const struct schedule *s, const struct fold *f, bool last, struct round *r);

/* If no ranks are folded into pairs, returns true. Otherwise the first of all `rounds` rounds folds
 * the pairs, and the last unfolds them. In these two rounds, fills in *r and returns false. In
 * other rounds, returns whether this rank takes part. With pairs, also reduces *i by 1, to the
 * round of the algorithm itself. */
bool fold_is_between(const struct schedule *s, const struct fold *f, int rounds, int *i,
                     struct round *r);

/* ---- Halving ---- */

/* Two halves of the blocks that this rank and its partner both hold. Each of the two ranks keeps
 * one half. halves_of: the positions of the two ranks differ by 2^bit. */
struct halves {
    int partner;
    size_t own, own_count;       /* offset and size of the half that this rank keeps */
    size_t theirs, theirs_count; /* offset and size of the half that `partner` keeps */
};
struct halves halves_of(const struct schedule *s, const struct fold *f, int bit);
/* halves_scatter: this rank sends its partner's half, and adds the received numbers to its own
 * half. halves_gather: this rank sends its own half and receives its partner's half. */
void halves_scatter(const struct halves *h, struct round *r);
void halves_gather(const struct halves *h, struct round *r);

/* ---- Binomial trees ---- */

/* Edge of a binomial tree with root 0. The length of an edge is child - parent. Edges of equal
 * length (1, 2, 4 ...) form a round. */
struct edge {
    int child, parent; /* ranks at the two ends */
    int end;           /* [child, end): ranks of the child's subtree */
};
int binomial_levels(int ranks);
/* Finds the edge of length `mask` that this rank is part of. Returns false if the rank has no edge
 * of this length. */
bool binomial_edge(const struct schedule *s, int mask, struct edge *edge);
/* Add this rank's send or receive along `edge` to the round: from child to parent (up) or from
 * parent to child (down). This rank is one end of `edge`. */
void binomial_up(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                 bool add, struct round *r);
void binomial_down(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                   struct round *r);

/* ---- Pipelines ---- */

/* Position of a rank in a tree along which segments are pipelined. Heights and depths are in
 * edges. */
struct pipeline_place {
    int parent, height, depth;
    int children[2], child_heights[2], n_children;
    int top; /* height of the tree's root */
};
int pipeline_rounds(const struct schedule *s, int top);
void pipeline_round(const struct schedule *s, const struct pipeline_place *place, int i,
                    struct round *r);

/* ---- Between nodes ---- */

/* Sum of numbers [first, first + count) over one rank per node: the ranks with this rank's
 * node-local index. between_nodes_rounds returns the number of rounds; between_nodes_round sets *r
 * to round i. */
int between_nodes_rounds(const struct schedule *s);
void between_nodes_round(const struct schedule *s, size_t first, size_t count, int i,
                         struct round *r);
