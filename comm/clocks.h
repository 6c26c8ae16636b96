/* Measures the offset of each node's clock from rank 0's. Only the first rank of each node takes
 * part, since the ranks of a node share a clock. Nodes form a binomial tree as in HCA3 (Hunold and
 * Carpen-Amarie, Hierarchical clock synchronization in MPI, 2018). */
#pragma once

#include "comm/wait/wait.h"
#include "kernels/base/clock_offset.h"

/* Sets *first_rank to the first rank of this node. If all ranks share a node, sets *offset to 0 on
 * every rank and sends nothing. Otherwise, on the first rank of each node, sets *offset to the
 * node's clock minus rank 0's clock. On all other ranks, sets *offset to NAN. The measurement takes
 * log2(nodes) rounds, rounded up, each normally of a few milliseconds. now_ns reads this rank's
 * clock. Collective over comm; call it outside of timed code. */
enum status clocks_find(struct clock_offset *offset, int *first_rank, struct waiter *w,
                        MPI_Comm comm, int64_t (*now_ns)(void), struct error *e);
