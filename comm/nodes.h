/* Finds the ranks that share a node. */
#pragma once

#include "comm/wait/wait.h"

/* Sets *ranks to the number of ranks of comm on this node, and *first to the lowest of these ranks.
 * Does not communicate. */
void nodes_here(const struct waiter *w, MPI_Comm comm, int *ranks, int *first);

/* Sets node_of [ranks] to the number of each rank's node. Nodes are numbered in the order of their
 * lowest ranks. Ranks that can share memory are on one node. node_of must be zeroed. Collective. */
enum status nodes_find(struct waiter *w, MPI_Comm comm, int *node_of, struct error *e);
