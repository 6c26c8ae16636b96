/* Building blocks of rules. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

void round_send(struct round *r, int to, size_t first, size_t count);
/* `add`: adds to this rank's own numbers; else replaces them. */
void round_receive(struct round *r, int from, size_t first, size_t count, bool add);

/* Numbers [*first, *first + *count) of blocks [begin, end) when the schedule's numbers are cut into `blocks`. */
void block_range(const struct schedule *s, int blocks, int begin, int end, size_t *first,
                 size_t *count);

/* In a ring: sends block `sent` to the next rank, and receives the block before it from the last one. */
void round_pass_on(const struct schedule *s, int sent, bool add, struct round *r);

/* ---- Folding ---- */

/* Reduction of the ranks to a power of two: ranks 0 to 2 folded - 1 form pairs. The odd rank of a pair continues with the
 * numbers of both; the even rank pauses and receives the result at the end. */
struct fold {
    int blocks, folded; /* number of ranks that continue (a power of two), and of pairs */
    int doublings;      /* lg blocks */
    bool even_stays;    /* the even rank continues instead, and the odd one receives nothing */
};
struct fold fold_of(int ranks);
int fold_position_of(const struct fold *f, int rank);
int fold_rank_at(const struct fold *f, int position);
/* Returns whether `rank` pauses while the other rank of its pair continues. */
bool fold_stands_aside(const struct fold *f, int rank);
/* Fills in the first round, which folds pairs, or the last one, which returns the result. */
void fold_round(const struct schedule *s, const struct fold *f, bool last, struct round *r);

/* Subtracts the folding round from *i. Returns false if the caller has nothing to add: in the folding and unfolding
 * rounds, which it fills in, and on ranks that pause. */
bool fold_is_between(const struct schedule *s, const struct fold *f, int rounds, int *i,
                     struct round *r);

/* ---- Halving ---- */

/* A halving: this rank and its partner, 2^bit positions away, each keep one half of their common blocks. */
struct halves {
    int partner;
    size_t own, own_count;       /* the half that this rank keeps */
    size_t theirs, theirs_count; /* the half that the partner keeps */
};
struct halves halves_of(const struct schedule *s, const struct fold *f, int bit);
/* scatter: partners exchange and add the halves that they keep. gather: partners exchange their finished halves. */
void halves_scatter(const struct halves *h, struct round *r);
void halves_gather(const struct halves *h, struct round *r);

/* ---- Binomial trees ---- */

/* Edge of a binomial tree with root 0. All edges of one length (1, 2, 4 ...) form a round. */
struct edge {
    int below, above; /* ranks */
    int end;          /* [below, end): the ranks that hang on the edge */
};
int binomial_levels(int ranks);
/* Returns false if this rank has no edge of this length. */
bool binomial_edge(const struct schedule *s, int mask, struct edge *edge);
/* Fills in the transfer along an edge: this rank sends at one end and receives at the other. */
void binomial_up(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                 bool add, struct round *r);
void binomial_down(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                   struct round *r);

/* ---- Pipelines ---- */

/* Place of a rank in a tree. Heights and depth in edges. */
struct pipeline_place {
    int parent, height, depth;
    int children[2], child_heights[2], n_children;
    int top; /* height of the root */
};
int pipeline_rounds(const struct schedule *s, int top);
void pipeline_round(const struct schedule *s, const struct pipeline_place *place, int i,
                    struct round *r);

/* ---- Between nodes ---- */

/* Sum of numbers [first, first + count) over the ranks that have the same place on their nodes. */
int between_nodes_rounds(const struct schedule *s);
void between_nodes_round(const struct schedule *s, size_t first, size_t count, int i,
                         struct round *r);
