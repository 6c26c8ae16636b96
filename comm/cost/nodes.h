/* Which ranks are on which node, for strategies that sum within nodes and between them. Nodes are numbered in the order
 * of their first ranks, places on a node in the order of its ranks. The rank at place 0 leads. */
#pragma once

#include "comm/cost/cost.h"

/* `node_of` [ranks], borrowed. NULL: `group` consecutive ranks are a node, and all answers take constant time. */
struct node_map {
    const int *node_of;
    int group;
    int ranks;
};

/* The nodes as one rank sees them. */
struct node_view {
    int node, place, size; /* of this rank's node */
    int nodes;
    int least, most; /* ranks on the smallest and the largest node */
};

/* The nodes of a configuration; if it names none, all ranks are on one. */
struct node_map node_map_of(const struct strategy_config *config, int ranks);
struct node_view node_view_of(const struct node_map *map, int rank);

int node_of_rank(const struct node_map *map, int rank);
/* The rank at a place, which the node has. */
int node_rank_at(const struct node_map *map, int node, int place);
