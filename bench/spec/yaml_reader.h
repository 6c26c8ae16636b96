/* One YAML document as a tree whose every key and value knows its place. Aliases are copies of what their
 * anchors name, merge keys are merged. Strict: duplicate keys, tags and further documents are refused, so
 * that a file means what it looks like. */
#pragma once

#include "bench/spec/yaml/node.h"

/* Reads a file of at most 1 MiB. `path` is borrowed by every mark of the tree. ERR_SPEC with
 * file:line:column. The tree is freed with node_free in any case. */
enum status yaml_read_file(struct node *root, const char *path, struct error *e);

/* Reads one value written in flow style; `origin` is the place of its first character, or has line
 * 0 where places mean nothing. */
enum status yaml_read_text(struct node *root, const char *text, struct mark origin,
                           struct error *e);
