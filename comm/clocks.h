/* How far the nodes' clocks are from rank 0's, found out by messages there and back between the first
 * ranks of the nodes; the ranks of a node share its clock. In a binomial tree, as HCA3 has it (Hunold
 * and Carpen-Amarie, Hierarchical clock synchronization in MPI, 2018): log2(nodes) rounds, in each of
 * which all nodes that know their offset answer one that does not. */
#pragma once

#include "comm/wait/wait.h"
#include "kernels/base/clock_offset.h"

/* *of is the first rank of this one's node; that rank learns *offset, the node's clock less rank 0's,
 * which is unknown (NAN) on the others. now_ns reads this rank's clock. Collective over comm, outside of
 * what is timed: costs nothing where all ranks share a node, else a sum of a number a rank, rounds of
 * 200 messages there and back, or as many, 20 at least, as fit into 0.2 s, and a barrier. */
enum status clocks_find(struct clock_offset *offset, int *of, struct waiter *w, MPI_Comm comm,
                        int64_t (*now_ns)(void), struct error *e);
