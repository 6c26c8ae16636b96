/* Resolves anchors, aliases and merge keys (https://yaml.org/type/merge.html) of one YAML document.
 * An alias becomes a copy, which owns its contents. The total size of copies is limited, so that a
 * few lines cannot fill the memory. */
#pragma once

#include "bench/spec/yaml/node.h"

enum {
    YAML_DEPTH_MAX = 16,   /* largest depth of a YAML tree */
    YAML_ITEMS_MAX = 1000, /* largest number of items in one list or map */
};

struct anchor {
    char *name;
    struct mark mark;
    bool complete;    /* the whole anchored node has been read */
    struct node node; /* copy of the anchored node */
};

/* Anchors of a document. Initialise to zero; free with anchors_free. */
struct anchors {
    struct anchor *list;
    size_t n;
    size_t nodes, bytes; /* number of nodes copied for anchors and aliases; bytes of their texts */
};

/* Adds an anchor whose node has not been read yet, and sets *i to its index. */
enum status anchors_begin(struct anchors *anchors, size_t *i, const char *name, struct mark mark,
                          struct error *e);

/* Stores a copy of `node`, which has been read completely, as the node of anchor `i`. */
enum status anchors_end(struct anchors *anchors, size_t i, const struct node *node,
                        struct error *e);

/* Copies the node of the latest anchor `name` to `node`, which keeps its key. `mark`: position of
 * the alias, stored in the copy beside the original positions. `depth`: depth of `node` in its
 * tree. ERR_SPEC if the anchor is unknown or incomplete, or the copy exceeds a limit. */
enum status anchors_repeat(struct node *node, struct anchors *anchors, const char *name,
                           struct mark mark, int depth, struct error *e);

void anchors_free(struct anchors *anchors);

/* Replaces merge key `at` of a map by the entries of the merged maps. Keys of the map override
 * merged keys, and earlier merged maps override later ones. */
enum status map_merge(struct node *map, size_t at, struct error *e);
