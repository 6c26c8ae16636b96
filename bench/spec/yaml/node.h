/* YAML tree with the position of every key and value. Each node owns its contents. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* Node of the tree: a scalar, a list or a map. A node in a map also has a key. */
struct node {
    enum node_kind kind;
    struct mark mark; /* position of the value */
    char *key;        /* key in a map; NULL in a list and at the top */
    struct mark key_mark;
    char *text;    /* text of a scalar, without its quotes and with escapes decoded ("" if empty);
                      NULL for a list or map */
    bool quoted;   /* written in quotes or as a block, so a text, never a number */
    bool merges;   /* whether this is the value of a merge key << that is not merged yet */
    int lead;      /* number of characters of an anchor and an opening quotation mark between `mark`
                    and the text; 0: neither */
    bool verbatim; /* whether `text` is in the file literally, without escapes and line breaks */
    struct node *items;
    size_t n;
};

void node_free(struct node *node);

/* Sets *to to a copy of `from`, freed by the caller. If memory runs out, sets *to to NULL and
 * returns ERR_MEMORY with the message "no memory for <what>". */
enum status node_copy_text(char **to, const char *from, const char *what, struct error *e);

/* Returns the node of the value that a map has under this key; NULL if the map lacks the key. */
const struct node *node_find(const struct node *map, const char *key);

/* Returns whether the file has no value after the key's colon or the list item's dash. */
bool node_is_empty(const struct node *node);

/* Returns whether a top-level key begins with `x-`. scalebench ignores such entries; authors use
 * them, for example, for anchors. */
bool key_is_own(const char *key);

/* mark_ahead returns `mark` moved right by a number of characters; for an aliased value, only the
 * position in the anchor moves. node_text_mark returns the position of a scalar's text. */
struct mark mark_ahead(struct mark mark, int characters);
struct mark node_text_mark(const struct node *node);

/* Reports an error at a mark and returns `status`. For an aliased value, the position in the anchor
 * is appended. */
enum status mark_error(struct error *e, enum status status, struct mark mark, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

#define MARK_TEXT_BYTES 256
/* Writes "file:line:column" of a mark, for messages with a second position. Returns `text`. */
char *mark_text(char text[MARK_TEXT_BYTES], struct mark mark);
