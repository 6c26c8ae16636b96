/* Collective operations of the MPI library, with the algorithms that MPICH 4.0.2 chooses by size
 * and number of ranks. Rank 0 is the root. Internal to comm/cost. */
#pragma once

#include "comm/cost/program.h"

/* Returns the algorithm that MPICH runs if a call asks for `asked`. If `asked` is ALGORITHM_auto,
 * this is MPICH's own choice. reduce_scatter_allgather becomes recursive_doubling if `count` is
 * below the largest power of two that does not exceed `ranks`. */
enum allreduce_algorithm allreduce_algorithm(enum allreduce_algorithm asked, enum call_kind call,
                                             int ranks, size_t count, size_t width);
/* Returns the allreduce as an operation; arguments as in allreduce_algorithm. */
struct operation library_allreduce(enum allreduce_algorithm asked, enum call_kind call, int ranks,
                                   size_t count, size_t width);
/* Returns the value of wire_source, such as "formula: ring"; "none" if `algorithms` is 0.
 * `algorithms`: one bit per algorithm. */
const char *allreduce_source(unsigned algorithms);

/* Returns whether MPICH reduces `count` numbers by rule_reduce_scatter_gather, its algorithm for
 * long vectors, instead of along a binomial tree. */
bool reduce_is_long(int ranks, size_t count, size_t width);
struct operation library_reduce(int ranks, size_t count, size_t width);

/* Broadcast algorithms of MPICH. BINOMIAL: short messages or few ranks. SCATTER_DOUBLING: medium
 * messages, if the number of ranks is a power of two. SCATTER_RING: all other messages. */
enum bcast_algorithm { BCAST_BINOMIAL, BCAST_SCATTER_DOUBLING, BCAST_SCATTER_RING };
enum bcast_algorithm bcast_algorithm(int ranks, size_t bytes);
struct operation library_bcast(int ranks, size_t bytes);

/* Return a gather or a scatter along a binomial tree, with `bytes` bytes per rank. A message
 * carries the bytes of all ranks in the child's subtree. */
struct operation library_gather(size_t bytes);
struct operation library_scatter(size_t bytes);
