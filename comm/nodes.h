/* Finding out which ranks share a node. */
#pragma once

#include "comm/strategy.h"

/* The ranks of s on this rank's node: how many, and the first of them. From what waiter_open found
 * out: no call waits. */
void nodes_here(const struct sync *s, int *ranks, int *first);

/* (*node_of) [ranks]: the node of each rank, counted in the order of their first ranks; freed with
 * free, NULL on error. Ranks share a node when they can share memory. Collective. */
enum status nodes_find(struct sync *s, int **node_of, struct error *e);
