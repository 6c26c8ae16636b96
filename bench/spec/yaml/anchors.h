/* Anchors of one document, the copies that their aliases make, and merge keys: https://yaml.org/type/merge.html.
 * Every node owns what it holds; what aliases repeat is bounded, so that a few lines cannot fill the memory. */
#pragma once

#include "bench/spec/yaml/node.h"

/* Levels of a tree, and items of one list or map. */
enum { YAML_DEPTH_MAX = 16, YAML_ITEMS_MAX = 1000 };

struct anchor {
    char *name;
    struct mark mark;
    bool complete;    /* its node was read to its end */
    struct node node; /* a copy, once it is complete */
};

/* Zeroed at first, freed with anchors_free. */
struct anchors {
    struct anchor *list;
    size_t n;
    size_t nodes, bytes; /* of all copies */
};

/* Begins the anchor of a node that is read next; *i is its number. */
enum status anchors_begin(struct anchors *anchors, size_t *i, const char *name, struct mark mark,
                          struct error *e);

/* Keeps the complete node of an anchor. */
enum status anchors_end(struct anchors *anchors, size_t i, const struct node *node,
                        struct error *e);

/* Makes `node`, at this depth of its tree, a copy of what the latest anchor of this name has; its key stays.
 * Marks of the copy have both places. ERR_SPEC at `mark` if there is none, or it is not complete. */
enum status anchors_repeat(struct node *node, struct anchors *anchors, const char *name,
                           struct mark mark, int depth, struct error *e);

void anchors_free(struct anchors *anchors);

/* Replaces entry `at` of a map, its merge key, by the entries of the map or maps in its value. Keys of the map win
 * over merged ones, those of an earlier map in the list over those of a later one. */
enum status map_merge(struct node *map, size_t at, struct error *e);
