#include "comm/cost/nodes.h"

struct node_map node_map_of(const struct strategy_config *config, int ranks)
{
    int group = (int)config->options[SYNC_node_ranks];
    return (struct node_map){config->node_of, group > 0 ? group : ranks, ranks};
}

/* ---- Nodes of `group` consecutive ranks; the last can be smaller ---- */

static struct node_view view_of_groups(const struct node_map *map, int rank)
{
    int nodes = (map->ranks + map->group - 1) / map->group;
    int last = map->ranks - (nodes - 1) * map->group;
    struct node_view v = {.node = rank / map->group, .place = rank % map->group, .nodes = nodes};
    v.least = last;
    v.most = nodes > 1 ? map->group : last;
    v.size = v.node == nodes - 1 ? last : map->group;
    return v;
}

/* ---- Nodes of a list ---- */

static int size_of(const struct node_map *map, int node)
{
    int size = 0;
    for (int r = 0; r < map->ranks; r++)
        size += map->node_of[r] == node;
    return size;
}

static struct node_view view_of_list(const struct node_map *map, int rank)
{
    struct node_view v = {.node = map->node_of[rank], .least = map->ranks};
    for (int r = 0; r < map->ranks; r++) {
        v.place += r < rank && map->node_of[r] == v.node;
        if (map->node_of[r] >= v.nodes)
            v.nodes = map->node_of[r] + 1;
    }
    for (int node = 0; node < v.nodes; node++) {
        int size = size_of(map, node);
        v.least = size < v.least ? size : v.least;
        v.most = size > v.most ? size : v.most;
    }
    v.size = size_of(map, v.node);
    return v;
}

static int rank_in_list(const struct node_map *map, int node, int place)
{
    int rank = 0;
    for (int r = 0; r < map->ranks; r++)
        if (map->node_of[r] == node && place-- == 0)
            rank = r;
    return rank;
}

/* ---- Either ---- */

struct node_view node_view_of(const struct node_map *map, int rank)
{
    return map->node_of != NULL ? view_of_list(map, rank) : view_of_groups(map, rank);
}

int node_of_rank(const struct node_map *map, int rank)
{
    return map->node_of != NULL ? map->node_of[rank] : rank / map->group;
}

int node_rank_at(const struct node_map *map, int node, int place)
{
    return map->node_of != NULL ? rank_in_list(map, node, place) : node * map->group + place;
}
