/* Parts that rules are made of. Internal to comm/cost. */
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

/* If ranks are no power of two, ranks 0 to 2 folded - 1 are pairs. The odd rank of a pair carries on with the numbers
 * of both; the even one stands aside and receives the result in the end. */
struct fold {
    int blocks, folded; /* ranks that carry on, a power of two; pairs */
    int doublings;      /* lg blocks */
    bool even_stays;    /* the even rank of a pair carries on, and the odd one receives nothing */
};
struct fold fold_of(int ranks);
int fold_position_of(const struct fold *f, int rank);
int fold_rank_at(const struct fold *f, int position);
/* Whether the other rank of its pair carries on for `rank`. */
bool fold_stands_aside(const struct fold *f, int rank);
/* The first round, and the last one, which returns the result. */
void fold_round(const struct schedule *s, const struct fold *f, bool last, struct round *r);

/* Makes *i the index of a round among those between folding and unfolding. Returns false for these two, which it fills
 * in, and on ranks that stand aside. */
bool fold_is_between(const struct schedule *s, const struct fold *f, int rounds, int *i,
                     struct round *r);

/* ---- Halving ---- */

/* In halving `bit` this rank and its partner, 2^bit positions away, each keep a half of the blocks that both have. */
struct halves {
    int partner;
    size_t own, own_count;       /* the half that this rank keeps */
    size_t theirs, theirs_count; /* the half that the partner keeps */
};
struct halves halves_of(const struct schedule *s, const struct fold *f, int bit);
/* Each sends the other its half and adds what it receives, or both get the halves of each other. */
void halves_scatter(const struct halves *h, struct round *r);
void halves_gather(const struct halves *h, struct round *r);

/* ---- Binomial trees ---- */

/* Rank 0 is the root. The edges of length `mask` are rounds of their own, from 1 up or down to 1. */
struct edge {
    int below, above; /* ranks */
    int end;          /* [below, end): the ranks that hang on the edge */
};
int binomial_levels(int ranks);
/* Returns false if this rank has no edge of this length. */
bool binomial_edge(const struct schedule *s, int mask, struct edge *edge);
/* Sends numbers along the edge: this rank receives them if it is at the other end. */
void binomial_up(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                 bool add, struct round *r);
void binomial_down(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                   struct round *r);

/* ---- Pipelines ---- */

/* The place of a rank below a root. */
struct pipeline_place {
    int parent, height, depth;
    int children[2], child_heights[2], n_children;
    int top; /* height of the root */
};
int pipeline_rounds(const struct schedule *s, int top);
void pipeline_round(const struct schedule *s, const struct pipeline_place *place, int i,
                    struct round *r);

/* ---- Between nodes ---- */

/* Ranks of the same place, one on each node, sum their numbers [first, first + count). */
int between_nodes_rounds(const struct schedule *s);
void between_nodes_round(const struct schedule *s, size_t first, size_t count, int i,
                         struct round *r);
