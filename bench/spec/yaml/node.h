/* A tree of YAML whose every key and value knows its place. Each node owns what it holds. */
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
    char *text;  /* of a scalar, as written but for quotes; "" where nothing is written */
    bool quoted; /* a scalar in quotes or a block: a text, never a number */
    bool merges; /* the entry of a merge key, <<, until its map is complete */
    int lead; /* characters between `mark` and the text of a scalar: an anchor, a quotation mark */
    bool verbatim; /* a scalar whose text is as long as in the file: no escapes, no line breaks */
    struct node *items;
    size_t n;
};

void node_free(struct node *node);

/* The entry of a map, or NULL. */
const struct node *node_find(const struct node *map, const char *key);

/* Nothing is written after the colon or the dash. */
bool node_is_empty(const struct node *node);

/* Whether a key at the top of a file is its author's own, a place for anchors: it begins with `x-`. Readers
 * ignore such entries. */
bool key_is_own(const char *key);

/* The place so many characters behind a mark; where the text of a scalar begins. */
struct mark mark_ahead(struct mark mark, int characters);
struct mark node_text_mark(const struct node *node);

/* error_at at a mark; of what an alias repeats, the text ends with the place in the anchor. */
enum status mark_error(struct error *e, enum status status, struct mark mark, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* "file:line:column" of a mark into text, for messages that mention a second place; returns
 * text. */
#define MARK_TEXT_BYTES 256
char *mark_text(char text[MARK_TEXT_BYTES], struct mark mark);
