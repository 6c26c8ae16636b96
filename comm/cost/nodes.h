/* Which ranks are on which node, for strategies that sum within nodes and between them. Nodes are numbered in the order
 * of their first ranks, places on a node in the order of its ranks. The rank at place 0 leads. */
#pragma once

#include "comm/cost/cost.h"

/* Node of each rank. node_of [ranks] is borrowed; NULL: `group` consecutive ranks form a node. */
struct node_map {
    const int *node_of;
    int group;
    int ranks;
};

/* A rank's place on its node, and sizes of nodes. */
struct node_view {
    int node, place, size; /* of this rank's node */
    int nodes;
    int least, most; /* ranks on the smallest and the largest node */
};

/* Returns the nodes of a configuration; all ranks are on one node if it names none. */
struct node_map node_map_of(const struct strategy_config *config, int ranks);
struct node_view node_view_of(const struct node_map *map, int rank);

int node_of_rank(const struct node_map *map, int rank);
/* Returns the rank at a place, which must exist on the node. */
int node_rank_at(const struct node_map *map, int node, int place);
