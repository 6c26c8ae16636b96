/* What one collective operation costs a rank by a named algorithm; the root is rank 0. A rank is
 * busy while it sends, receives or sums; that it waits for others shows in the seconds of the
 * busiest rank. Internal to comm/cost. */
#pragma once

#include <stdbool.h>

#include "comm/cost/cost.h"

/* The rank whose cost is added up, and the model of time or NULL. */
struct participant {
    int rank, ranks;
    const struct link_model *model;
};

/* What is handed to the library. */
void add_calls(struct cost *c, size_t calls, size_t bytes_each);

/* One message of this rank's own; one that it receives; the sum of one vector. */
void add_message(struct cost *c, const struct participant *p, size_t bytes);
/* The same in messages of at most `segment` bytes. */
void add_cut_message(struct cost *c, const struct participant *p, size_t bytes, size_t segment);
void add_receipt(struct cost *c, const struct participant *p, size_t bytes);
void add_reduction(struct cost *c, const struct participant *p, size_t bytes);

/* Every rank holds `count` numbers. What MPICH runs when asked for `algorithm`, by the blocking
 * call or the other one; ALGORITHM_auto becomes what it chooses by itself. */
enum allreduce_algorithm allreduce_algorithm(enum allreduce_algorithm asked, enum call_kind call,
                                             int ranks, size_t count, size_t width);
/* A call that asks for `asked`, its payload with it; marks what it runs in c->algorithms. */
void add_allreduce_call(struct cost *c, const struct participant *p, enum call_kind call,
                        enum allreduce_algorithm asked, size_t count, size_t width);
/* The algorithms that calls were made by, as one text. */
const char *allreduce_source(unsigned algorithms);

/* MPICH's reduce: "reduce_scatter_gather" of long vectors, "binomial" of others. */
bool reduce_is_long(int ranks, size_t count, size_t width);
void add_reduce(struct cost *c, const struct participant *p, size_t count, size_t width);
void add_reduce_binomial(struct cost *c, const struct participant *p, size_t bytes);

/* MPICH's broadcast: "binomial" of short messages or to few ranks, else
 * "scatter_recursive_doubling_allgather" up to some size to a power of two of ranks, or
 * "scatter_ring_allgather". */
enum bcast_algorithm { BCAST_BINOMIAL, BCAST_SCATTER_DOUBLING, BCAST_SCATTER_RING };
enum bcast_algorithm bcast_algorithm(int ranks, size_t bytes);
void add_bcast(struct cost *c, const struct participant *p, size_t bytes);

/* "binomial": a rank's message to its parent, or from it, carries the `bytes` of all below it. */
void add_gather(struct cost *c, const struct participant *p, size_t bytes);
void add_scatter(struct cost *c, const struct participant *p, size_t bytes);

/* Up the binomial tree, the same bytes over every edge, nothing summed. */
void add_ascent(struct cost *c, const struct participant *p, size_t bytes);
/* Neighbours of a rank in the binomial tree. */
int tree_edges(int rank, int ranks);

int floor_power_of_two(int n);
