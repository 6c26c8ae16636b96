#include "bench/spec/yaml/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Positions ---- */

enum status mark_error(struct error *e, enum status status, struct mark mark, const char *format,
                       ...)
{
    char text[sizeof e->text], place[MARK_TEXT_BYTES], anchor[MARK_TEXT_BYTES + 32] = "";
    va_list arguments;
    if (mark.anchor_line > 0)
        snprintf(anchor, sizeof anchor, " (from the anchor at %s)",
                 mark_text(place, mark_in(mark.file, mark.anchor_line, mark.anchor_column)));
    va_start(arguments, format);
    vsnprintf(text, sizeof text - strlen(anchor), format, arguments);
    va_end(arguments);
    return error_at(e, status, mark.file, mark.line, mark.column, "%s%s", text, anchor);
}

char *mark_text(char text[MARK_TEXT_BYTES], struct mark mark)
{
    snprintf(text, MARK_TEXT_BYTES, "%s:%d:%d", mark.file, mark.line, mark.column);
    return text;
}

struct mark mark_ahead(struct mark mark, int characters)
{
    *(mark.anchor_line > 0 ? &mark.anchor_column : &mark.column) += characters;
    return mark;
}

struct mark node_text_mark(const struct node *node)
{
    return mark_ahead(node->mark, node->lead);
}

/* ---- Nodes ---- */

void node_free(struct node *node)
{
    for (size_t i = 0; i < node->n; i++)
        node_free(&node->items[i]);
    free(node->items);
    free(node->key);
    free(node->text);
    memset(node, 0, sizeof *node);
}

enum status node_copy_text(char **to, const char *from, const char *what, struct error *e)
{
    *to = strdup(from);
    return *to != NULL ? OK : error_no_memory(e, what);
}

const struct node *node_find(const struct node *map, const char *key)
{
    for (size_t i = 0; i < map->n; i++)
        if (map->items[i].key != NULL && strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    return NULL;
}

bool node_is_empty(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted && node->text[0] == '\0';
}

bool key_is_own(const char *key)
{
    return strncmp(key, "x-", 2) == 0;
}
