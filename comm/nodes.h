/* Finds which ranks share a node. */
#pragma once

#include "comm/wait/wait.h"

/* Counts the ranks of comm on this rank's node (*ranks) and finds the first of them (*first).
 * Uses data of waiter_open and does not wait. */
void nodes_here(const struct waiter *w, MPI_Comm comm, int *ranks, int *first);

/* Numbers the node of each rank in node_of [ranks], which must be zeroed. Nodes are counted in
 * the order of their first ranks. Ranks are on one node if they can share memory. Collective. */
enum status nodes_find(struct waiter *w, MPI_Comm comm, int *node_of, struct error *e);
