/* How ranks lie on nodes, for strategies that go between nodes otherwise than within them. Nodes
 * are counted in the order of their first ranks, places on a node in the order of its ranks;
 * whoever is at place 0 leads. */
#pragma once

#include "comm/cost/cost.h"

/* `node_of` [ranks], borrowed; where it is NULL, `group` ranks that follow each other make a
 * node. */
struct node_map {
    const int *node_of;
    int group;
    int ranks;
};

/* What one rank has to know of it. */
struct node_view {
    int node, place, size; /* of this rank's node */
    int nodes;
    int least, most; /* ranks on the smallest and the largest node */
};

/* What the configuration says; all ranks on one node where it says nothing. */
struct node_map node_map_of(const struct strategy_config *config, int ranks);
struct node_view node_view_of(const struct node_map *map, int rank);

/* The rank at a place that the node has. */
int node_rank_at(const struct node_map *map, int node, int place);
