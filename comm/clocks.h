/* Measures how far the clock of each node is from rank 0's clock. The first ranks of the nodes
 * exchange messages; the ranks of one node share a clock. Nodes form a binomial tree as in HCA3
 * (Hunold and Carpen-Amarie, Hierarchical clock synchronization in MPI, 2018): in each of
 * log2(nodes) rounds, every node with a known offset answers one without. */
#pragma once

#include "comm/wait/wait.h"
#include "kernels/base/clock_offset.h"

/* Measures the offset of this node's clock from rank 0's clock. *first_rank: first rank of this
 * node. *offset: this node's clock less rank 0's, on the first rank of each node; NAN on other
 * ranks. now_ns: reads this rank's clock.
 * Collective over comm, outside timed code. If all ranks share a node, nothing is sent.
 * Otherwise it costs one sum of a number per rank, log2(nodes) rounds and a barrier. A round has
 * up to 200 round trips, or the number that fits into 0.2 s, but at least 20. */
enum status clocks_find(struct clock_offset *offset, int *first_rank, struct waiter *w,
                        MPI_Comm comm, int64_t (*now_ns)(void), struct error *e);
