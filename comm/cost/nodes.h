/* Maps ranks to nodes, for strategies that sum within nodes and between them. Nodes are numbered in
 * the order of their first ranks. A rank's place is its index among the ranks of its node. Place 0
 * is the node's leader. */
#pragma once

#include "comm/cost/cost.h"

/* Node of each rank. node_of [ranks] is borrowed; NULL: `group` consecutive ranks form a node. */
struct node_map {
    const int *node_of;
    int group;
    int ranks;
};

/* Place of a rank: its node, and its index among the node's ranks. Also the number of nodes, and
 * the numbers of ranks on the rank's own, the smallest and the largest node. */
struct node_view {
    /* this rank's node, its place on the node, and the node's number of ranks */
    int node, place, size;
    int nodes;
    int least, most; /* numbers of ranks on the smallest and on the largest node */
};

/* Returns the nodes of a configuration: config->node_of, else groups of sync.node_ranks ranks. If
 * neither is set, all ranks are on one node. */
struct node_map node_map_of(const struct strategy_config *config, int ranks);
struct node_view node_view_of(const struct node_map *map, int rank);

int node_of_rank(const struct node_map *map, int rank);
/* Returns the rank at `place` on `node`. The node must have such a rank. */
int node_rank_at(const struct node_map *map, int node, int place);
