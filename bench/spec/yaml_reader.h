/* One YAML document as a tree whose every key and value knows its place. Strict: duplicate keys,
 * anchors, tags and further documents are refused, so that a file means what it looks like. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* A value. Inside a map it carries its key. */
struct node {
    enum node_kind kind;
    struct mark mark; /* of the value */
    char *key;        /* NULL in a list and at the top */
    struct mark key_mark;
    char *text;    /* of a scalar, as written but for quotes; "" where nothing is written */
    bool quoted;   /* a scalar in quotes or a block: a text, never a number */
    bool verbatim; /* a scalar whose text is as long as in the file: no escapes, no line breaks */
    struct node *items;
    size_t n;
};

/* Reads a file of at most 1 MiB. `path` is borrowed by every mark of the tree. ERR_SPEC with
 * file:line:column. The tree is freed with node_free in any case. */
enum status yaml_read_file(struct node *root, const char *path, struct error *e);

/* Reads one value written in flow style; `origin` is the place of its first character, or has line
 * 0 where places mean nothing. */
enum status yaml_read_text(struct node *root, const char *text, struct mark origin,
                           struct error *e);

void node_free(struct node *node);

/* The entry of a map, or NULL. */
const struct node *node_find(const struct node *map, const char *key);

/* Nothing is written after the colon or the dash. */
bool node_is_empty(const struct node *node);

/* error_at at a mark. */
enum status mark_error(struct error *e, enum status status, struct mark mark, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* "file:line:column" of a mark into text, for messages that mention a second place; returns
 * text. */
#define MARK_TEXT_BYTES 256
char *mark_text(char text[MARK_TEXT_BYTES], struct mark mark);
