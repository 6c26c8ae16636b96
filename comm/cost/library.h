/* Collective operations of the library as MPICH 4.0.2 runs them: algorithms by size, and the messages of each
 * as rules. The root is rank 0. Internal to comm/cost. */
#pragma once

#include "comm/cost/program.h"

/* The algorithm that MPICH runs if asked for `asked` by a blocking or nonblocking call. ALGORITHM_auto becomes its own
 * choice; vectors of fewer numbers than ranks are exchanged whole. */
enum allreduce_algorithm allreduce_algorithm(enum allreduce_algorithm asked, enum call_kind call,
                                             int ranks, size_t count, size_t width);
/* Returns the allreduce as an operation; arguments as in allreduce_algorithm. */
struct operation library_allreduce(enum allreduce_algorithm asked, enum call_kind call, int ranks,
                                   size_t count, size_t width);
/* Returns the wire_source of struct cost for a set of algorithms (one bit each): "formula: ring", or "none". */
const char *allreduce_source(unsigned algorithms);

/* Returns whether MPICH reduces by reduce_scatter_gather (long vectors) instead of a binomial tree. */
bool reduce_is_long(int ranks, size_t count, size_t width);
struct operation library_reduce(int ranks, size_t count, size_t width);

/* Broadcast algorithms of MPICH. Binomial: short messages or few ranks. Recursive doubling: medium messages and a power
 * of two of ranks. Ring: all others. */
enum bcast_algorithm { BCAST_BINOMIAL, BCAST_SCATTER_DOUBLING, BCAST_SCATTER_RING };
enum bcast_algorithm bcast_algorithm(int ranks, size_t bytes);
struct operation library_bcast(int ranks, size_t bytes);

/* Binomial trees. Each rank has `bytes`; a message carries the bytes of all ranks below its edge. */
struct operation library_gather(size_t bytes);
struct operation library_scatter(size_t bytes);
