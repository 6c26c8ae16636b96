#include "bench/spec/yaml/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/names.h"

/* Largest number of anchors in a file. It also bounds the time to find an anchor by name. */
#define ANCHORS_MAX 1000
/* Largest total of nodes copied for a file's anchors and aliases. */
#define NODES_MAX 10000
/* Largest total size (bytes) of the texts copied for a file's anchors and aliases. */
#define BYTES_MAX (1u << 20)

/* ---- Copy nodes ---- */

struct copying {
    struct anchors *anchors;
    /* position that copied nodes get; if line is 0, copies keep their position in the anchor */
    struct mark alias;
};

static struct mark copy_mark(const struct copying *c, struct mark written)
{
    struct mark mark = c->alias;
    if (mark.line == 0)
        return written;
    bool repeated = written.anchor_line > 0;
    mark.anchor_line = repeated ? written.anchor_line : written.line;
    mark.anchor_column = repeated ? written.anchor_column : written.column;
    return mark;
}

static enum status repeat_text(char **to, const struct copying *c, const char *from,
                               struct error *e)
{
    if (from == NULL)
        return OK;
    c->anchors->bytes += strlen(from);
    return node_copy_text(to, from, "a value", e);
}

static enum status check_copy(const struct copying *c, const struct node *from, int depth,
                              struct error *e)
{
    struct mark mark = copy_mark(c, from->mark);
    if (depth > YAML_DEPTH_MAX)
        return mark_error(e, ERR_SPEC, mark, "this value is nested more than %d levels deep",
                          YAML_DEPTH_MAX);
    if (c->anchors->nodes > NODES_MAX || c->anchors->bytes > BYTES_MAX)
        return mark_error(
            e, ERR_SPEC, mark,
            "anchors and aliases of this file expand to more than %d values or 1 MiB. Use fewer "
            "aliases",
            NODES_MAX);
    return OK;
}

/* Copies a node except for its key. */
static enum status copy_value(struct node *to, const struct copying *c, const struct node *from,
                              int depth, struct error *e)
{
    c->anchors->nodes++;
    TRY(check_copy(c, from, depth, e));
    to->kind = from->kind;
    to->quoted = from->quoted;
    to->lead = from->lead;
    to->verbatim = from->verbatim;
    to->mark = copy_mark(c, from->mark);
    TRY(repeat_text(&to->text, c, from->text, e));
    TRY(MEM_NEW(to->items, from->n, "a value", e));
    for (; to->n < from->n; to->n++) {
        struct node *item = &to->items[to->n];
        const struct node *original = &from->items[to->n];
        item->key_mark = copy_mark(c, original->key_mark);
        enum status status = repeat_text(&item->key, c, original->key, e);
        THEN(status, copy_value(item, c, original, depth + 1, e));
        if (status != OK) {
            node_free(item);
            return status;
        }
    }
    return OK;
}

/* ---- Anchors ---- */

enum status anchors_begin(struct anchors *anchors, size_t *i, const char *name, struct mark mark,
                          struct error *e)
{
    if (anchors->n == ANCHORS_MAX)
        return mark_error(e, ERR_SPEC, mark, "this file has more than %d anchors. Use fewer",
                          ANCHORS_MAX);
    TRY(MEM_GROW(anchors->list, anchors->n, "an anchor", e));
    *i = anchors->n++;
    anchors->list[*i] = (struct anchor){.mark = mark};
    return node_copy_text(&anchors->list[*i].name, name, "an anchor", e);
}

enum status anchors_end(struct anchors *anchors, size_t i, const struct node *node, struct error *e)
{
    struct anchor *anchor = &anchors->list[i];
    anchor->complete = true;
    return copy_value(&anchor->node, &(struct copying){.anchors = anchors}, node, 0, e);
}

static enum status refuse_unknown(const struct anchors *anchors, const char *name, struct mark mark,
                                  struct error *e)
{
    const char *names[ANCHORS_MAX];
    char near[NAME_NEAR_BYTES];
    for (size_t i = 0; i < anchors->n; i++)
        names[i] = anchors->list[i].name;
    return mark_error(e, ERR_SPEC, mark, "*%s: no anchor &%s is defined above in this file%s", name,
                      name, name_near(near, name, names, anchors->n));
}

enum status anchors_repeat(struct node *node, struct anchors *anchors, const char *name,
                           struct mark mark, int depth, struct error *e)
{
    size_t i = anchors->n;
    char place[MARK_TEXT_BYTES];
    while (i > 0 && strcmp(anchors->list[i - 1].name, name) != 0)
        i--;
    if (i == 0)
        return refuse_unknown(anchors, name, mark, e);
    const struct anchor *anchor = &anchors->list[i - 1];
    if (!anchor->complete)
        return mark_error(e, ERR_SPEC, mark,
                          "the alias *%s is inside its own anchor, which begins at %s", name,
                          mark_text(place, anchor->mark));
    return copy_value(node, &(struct copying){anchors, mark}, &anchor->node, depth, e);
}

void anchors_free(struct anchors *anchors)
{
    for (size_t i = 0; i < anchors->n; i++) {
        free(anchors->list[i].name);
        node_free(&anchors->list[i].node);
    }
    free(anchors->list);
    *anchors = (struct anchors){.n = 0};
}

/* ---- Merge keys ---- */

static enum status check_merged(const struct node *value, struct error *e)
{
    const struct node *maps = value->kind == NODE_LIST ? value->items : value;
    size_t n = value->kind == NODE_LIST ? value->n : 1;
    for (size_t i = 0; i < n; i++)
        if (maps[i].kind != NODE_MAP)
            return mark_error(
                e, ERR_SPEC, maps[i].mark,
                "<<: expected a map or a list of maps, such as <<: *base or <<: [*one, *other]");
    return OK;
}

static void move_item(struct node *to, struct node *from)
{
    to->items[to->n++] = *from;
    *from = (struct node){.n = 0};
}

/* Moves into `to` the entries of `merged` whose keys are neither in `to` nor in `map`. The other
 * entries are freed with `merged`. */
static void merge_one(struct node *to, const struct node *map, struct node *merged)
{
    for (size_t i = 0; i < merged->n; i++) {
        struct node *item = &merged->items[i];
        if (node_find(map, item->key) == NULL && node_find(to, item->key) == NULL)
            move_item(to, item);
    }
}

enum status map_merge(struct node *map, size_t at, struct error *e)
{
    struct node *value = &map->items[at], to = {.n = 0};
    bool list = value->kind == NODE_LIST;
    struct node *maps = list ? value->items : value;
    size_t n = list ? value->n : 1, most = map->n;
    TRY(check_merged(value, e));
    for (size_t k = 0; k < n; k++)
        most += maps[k].n;
    TRY(MEM_NEW(to.items, most, "a map", e));
    struct node rest = {.items = map->items + at + 1, .n = map->n - at - 1};
    for (size_t i = 0; i < at; i++)
        move_item(&to, &map->items[i]);
    for (size_t k = 0; k < n; k++)
        merge_one(&to, &rest, &maps[k]);
    for (size_t i = 0; i < rest.n; i++)
        move_item(&to, &rest.items[i]);
    node_free(value);
    free(map->items);
    map->items = to.items;
    map->n = to.n;
    return to.n <= YAML_ITEMS_MAX
               ? OK
               : mark_error(e, ERR_SPEC, map->mark, "a list or map has more than %d items",
                            YAML_ITEMS_MAX);
}
