/* Collective operations of the library as MPICH 4.0.2 runs them: which algorithm it chooses for which size, and the
 * messages of each as rules. The root is rank 0. Internal to comm/cost. */
#pragma once

#include "comm/cost/program.h"

/* The algorithm that MPICH runs if asked for `asked` by a blocking or nonblocking call. ALGORITHM_auto becomes its own
 * choice; vectors of fewer numbers than ranks are exchanged whole. */
enum allreduce_algorithm allreduce_algorithm(enum allreduce_algorithm asked, enum call_kind call,
                                             int ranks, size_t count, size_t width);
struct operation library_allreduce(enum allreduce_algorithm asked, enum call_kind call, int ranks,
                                   size_t count, size_t width);
/* The algorithms of allreduces, a bit each, as a text for columns: "formula: ring", or "none". */
const char *allreduce_source(unsigned algorithms);

/* reduce_scatter_gather for long vectors, else binomial. */
bool reduce_is_long(int ranks, size_t count, size_t width);
struct operation library_reduce(int ranks, size_t count, size_t width);

/* binomial for short messages or few ranks. Beyond, scatter_recursive_doubling_allgather for medium messages to a power
 * of two of ranks, else scatter_ring_allgather. */
enum bcast_algorithm { BCAST_BINOMIAL, BCAST_SCATTER_DOUBLING, BCAST_SCATTER_RING };
enum bcast_algorithm bcast_algorithm(int ranks, size_t bytes);
struct operation library_bcast(int ranks, size_t bytes);

/* binomial: a message between a rank and its parent carries the `bytes` of every rank below. */
struct operation library_gather(size_t bytes);
struct operation library_scatter(size_t bytes);
