/* Reads one YAML document into a tree with positions. Resolves aliases and merge keys (anchors.h).
 * Rejects duplicate keys, tags and further documents, which would hide or change values. */
#pragma once

#include "bench/spec/yaml/node.h"

/* Reads a file of at most 1 MiB. Positions in the tree point to `path`, so `path` must outlive the
 * tree. ERR_SPEC with file:line:column. Call node_free even after an error. */
enum status yaml_read_file(struct node *root, const char *path, struct error *e);

/* Reads one value in flow style. `origin`: position of the value's first character, with line 0 if
 * positions are unknown. */
enum status yaml_read_text(struct node *root, const char *text, struct mark origin,
                           struct error *e);
