/* Finding out which ranks share a node. */
#pragma once

#include "comm/wait/wait.h"

/* The ranks of comm on this rank's node: how many, and the first of them. From what waiter_open found
 * out: no call waits. */
void nodes_here(const struct waiter *w, MPI_Comm comm, int *ranks, int *first);

/* node_of [ranks], zeroes: the node of each rank, counted in the order of their first ranks. Ranks share a node
 * when they can share memory. Collective. */
enum status nodes_find(struct waiter *w, MPI_Comm comm, int *node_of, struct error *e);
