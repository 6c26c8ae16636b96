#include "comm/cost/nodes.h"

struct node_map node_map_of(const struct strategy_config *config, int ranks)
{
    int group = (int)config->options[SYNC_node_ranks];
    return (struct node_map){config->node_of, group > 0 ? group : ranks, ranks};
}

static int node_of(const struct node_map *map, int rank)
{
    return map->node_of != NULL ? map->node_of[rank] : rank / map->group;
}

static int size_of(const struct node_map *map, int node)
{
    int size = 0;
    for (int r = 0; r < map->ranks; r++)
        size += node_of(map, r) == node;
    return size;
}

struct node_view node_view_of(const struct node_map *map, int rank)
{
    struct node_view v = {.node = node_of(map, rank), .least = map->ranks};
    for (int r = 0; r < map->ranks; r++) {
        v.place += r < rank && node_of(map, r) == v.node;
        if (node_of(map, r) >= v.nodes)
            v.nodes = node_of(map, r) + 1;
    }
    for (int node = 0; node < v.nodes; node++) {
        int size = size_of(map, node);
        v.least = size < v.least ? size : v.least;
        v.most = size > v.most ? size : v.most;
    }
    v.size = size_of(map, v.node);
    return v;
}

int node_rank_at(const struct node_map *map, int node, int place)
{
    int rank = 0;
    for (int r = 0; r < map->ranks; r++)
        if (node_of(map, r) == node && place-- == 0)
            rank = r;
    return rank;
}
