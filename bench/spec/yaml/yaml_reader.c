#include "bench/spec/yaml/yaml_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "bench/base/file.h"
#include "bench/spec/yaml/anchors.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Largest size of a YAML file. */
#define FILE_BYTES_MAX (1u << 20)
/* Largest length of a key in a YAML file. */
#define KEY_BYTES_MAX 200

struct reader {
    yaml_parser_t parser;
    const char *text;
    size_t size;
    struct mark origin; /* position of the first character of the text */
    struct anchors anchors;
};

static struct mark place_mark(const struct reader *r, size_t line, size_t column)
{
    struct mark mark = r->origin;
    if (mark.line == 0)
        return mark;
    mark.line += (int)line;
    mark.column = (int)column + (line == 0 ? mark.column : 1);
    return mark;
}

static struct mark event_mark(const struct reader *r, const yaml_event_t *event)
{
    return place_mark(r, event->start_mark.line, event->start_mark.column);
}

/* Computes line and column from an offset: for undecodable bytes libyaml reports only the
 * offset. */
static struct mark offset_mark(const struct reader *r, size_t offset)
{
    size_t line = 0, column = 0;
    for (size_t i = 0; i < offset && i < r->size; i++) {
        unsigned char c = (unsigned char)r->text[i];
        if (c == '\n') {
            line++;
            column = 0;
        } else if ((c & 0xC0) != 0x80) { /* first byte of a UTF-8 character */
            column++;
        }
    }
    return place_mark(r, line, column);
}

static enum status parser_error(const struct reader *r, struct error *e)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return error_no_memory(e, r->origin.file);
    if (p->error == YAML_READER_ERROR)
        return mark_error(e, ERR_SPEC, offset_mark(r, p->problem_offset),
                          "not a text file: %s (byte %zu)", p->problem, p->problem_offset);

    /* libyaml reports the end of the text as the start of a new line. */
    size_t index = p->problem_mark.index;
    struct mark mark = index < r->size ? place_mark(r, p->problem_mark.line, p->problem_mark.column)
                                       : offset_mark(r, r->size);
    if (index < r->size && r->text[index] == '\t')
        return mark_error(e, ERR_SPEC, mark, "found a tab. Indent with spaces");
    /* libyaml reports a missing ':' one line too late. */
    if (strcmp(p->problem, "could not find expected ':'") == 0)
        return mark_error(e, ERR_SPEC, place_mark(r, p->context_mark.line, p->context_mark.column),
                          "not YAML: expected ': ' (a colon and a space) after a key");
    bool escape = strstr(p->problem, "unknown escape") != NULL;
    bool colon = strstr(p->problem, "mapping values are not allowed") != NULL;
    return mark_error(e, ERR_SPEC, mark, "not YAML: %s%s%s%s", p->problem,
                      p->context != NULL ? " " : "", p->context != NULL ? p->context : "",
                      escape  ? ". Use single quotes, in which a backslash is an ordinary character"
                      : colon ? ". Put a text with ': ' in quotation marks, or indent the "
                                "key like its neighbours"
                              : "");
}

static enum status next_event(struct reader *r, yaml_event_t *event, struct error *e)
{
    return yaml_parser_parse(&r->parser, event) ? OK : parser_error(r, e);
}

/* Returns the name of an alias, or of the anchor before a value; NULL if there is none. */
static const char *anchor_of(const yaml_event_t *event)
{
    return (
        const char *)(event->type == YAML_ALIAS_EVENT            ? event->data.alias.anchor
                      : event->type == YAML_SCALAR_EVENT         ? event->data.scalar.anchor
                      : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                      : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.anchor
                                                                 : NULL);
}

/* Rejects tags, because they change the meaning of a value. */
static enum status refuse_tag(const struct reader *r, const yaml_event_t *event, struct error *e)
{
    const yaml_char_t *tag =
        event->type == YAML_SCALAR_EVENT           ? event->data.scalar.tag
        : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
        : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.tag
                                                   : NULL;
    if (tag == NULL)
        return OK;
    return mark_error(e, ERR_SPEC, event_mark(r, event),
                      "'%s' is a YAML tag. Remove the tag: the key determines the type", tag);
}

static enum status copy_scalar(const struct reader *r, const yaml_event_t *event, char **text,
                               struct error *e)
{
    const char *value = (const char *)event->data.scalar.value;
    if (strlen(value) != event->data.scalar.length)
        return mark_error(e, ERR_SPEC, event_mark(r, event), "found a zero byte in a text");
    return node_copy_text(text, value, r->origin.file, e);
}

static enum status read_node(struct reader *r, const yaml_event_t *event, struct node *node,
                             int depth, struct error *e);

static enum status add_item(struct node *node, struct node **item, struct error *e)
{
    if (node->n == YAML_ITEMS_MAX)
        return mark_error(e, ERR_SPEC, node->mark, "a list or map has more than %d items",
                          YAML_ITEMS_MAX);
    TRY(MEM_GROW(node->items, node->n, node->mark.file, e));
    *item = &node->items[node->n++];
    memset(*item, 0, sizeof **item);
    return OK;
}

static enum status read_next(struct reader *r, struct node *node, int depth, struct error *e)
{
    yaml_event_t event;
    TRY(next_event(r, &event, e));
    enum status status = read_node(r, &event, node, depth, e);
    yaml_event_delete(&event);
    return status;
}

static enum status check_key(const struct node *map, const struct node *item, struct error *e)
{
    if (strlen(item->key) > KEY_BYTES_MAX)
        return mark_error(e, ERR_SPEC, item->key_mark, "the key has more than %d bytes",
                          KEY_BYTES_MAX);
    const struct node *first = node_find(map, item->key);
    char place[MARK_TEXT_BYTES];
    if (first != item)
        return mark_error(e, ERR_SPEC, item->key_mark, "'%s' is given twice: here and at %s",
                          item->key, mark_text(place, first->key_mark));
    return OK;
}

/* Checks that a key is a scalar, not an alias, list or map, and has neither tag nor anchor. An
 * anchor before a key was probably meant for the value. */
static enum status check_key_event(const struct reader *r, const yaml_event_t *event,
                                   struct error *e)
{
    const char *anchor = anchor_of(event);
    TRY(refuse_tag(r, event, e));
    if (event->type != YAML_SCALAR_EVENT)
        return mark_error(e, ERR_SPEC, event_mark(r, event),
                          "a key must be one word, not an alias, list or map");
    if (anchor != NULL)
        return mark_error(e, ERR_SPEC, event_mark(r, event),
                          "found an anchor before a key. Write the anchor after the colon: %s: &%s",
                          event->data.scalar.value, anchor);
    return OK;
}

/* Rejects {ranks:2}, which YAML reads as the key "ranks:2" without a value. */
static enum status check_colon(const struct node *item, struct error *e)
{
    const char *colon = strchr(item->key, ':');
    if (colon == NULL || colon == item->key || !node_is_empty(item))
        return OK;
    return mark_error(e, ERR_SPEC, item->key_mark,
                      "'%s': expected a space after the colon. Use %.*s: %s", item->key,
                      (int)(colon - item->key), item->key, colon[1] ? colon + 1 : "VALUE");
}

static bool is_digits(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Rejects {lr: 0,001}, which YAML reads as lr: 0 and the key "001" without a value. */
static enum status check_comma(const struct node *map, const struct node *item, struct error *e)
{
    const struct node *before = item - 1;
    if (map->n < 2 || !node_is_empty(item) || before->kind != NODE_SCALAR ||
        !is_digits(item->key) || !is_digits(before->text))
        return OK;
    return mark_error(e, ERR_SPEC, before->mark,
                      "'%s: %s,%s': expected a decimal point, found a comma. Use %s: %s.%s",
                      before->key, before->text, item->key, before->key, before->text, item->key);
}

static bool is_merge_key(const yaml_event_t *key)
{
    return key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           strcmp((const char *)key->data.scalar.value, "<<") == 0;
}

static enum status read_entry(struct reader *r, const yaml_event_t *event, struct node *map,
                              int depth, struct error *e)
{
    struct node *item = NULL;
    TRY(check_key_event(r, event, e));
    TRY(add_item(map, &item, e));
    item->key_mark = event_mark(r, event);
    item->merges = is_merge_key(event);
    TRY(copy_scalar(r, event, &item->key, e));
    TRY(check_key(map, item, e));
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    TRY(read_next(r, item, depth + 1, e));
    if (!plain)
        return OK;
    TRY(check_comma(map, item, e));
    return check_colon(item, e);
}

static enum status read_element(struct reader *r, const yaml_event_t *event, struct node *list,
                                int depth, struct error *e)
{
    struct node *item = NULL;
    TRY(add_item(list, &item, e));
    return read_node(r, event, item, depth + 1, e);
}

static enum status read_items(struct reader *r, struct node *node, int depth, struct error *e)
{
    bool map = node->kind == NODE_MAP;
    yaml_event_type_t end = map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    for (;;) {
        yaml_event_t event;
        TRY(next_event(r, &event, e));
        bool done = event.type == end;
        enum status status =
            done ? OK : (map ? read_entry : read_element)(r, &event, node, depth, e);
        yaml_event_delete(&event);
        if (done || status != OK)
            return status;
    }
}

/* Returns whether the file has the text of a scalar literally, on one line and without escapes.
 * Does not compare the texts: checks that the scalar ends on the line where it begins, and has as
 * many characters as the text, its quotes and its anchor. */
static bool is_verbatim(const yaml_event_t *event, const struct node *node)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t characters = text_characters(text, event->data.scalar.length);
    return event->start_mark.line == event->end_mark.line &&
           event->end_mark.index - event->start_mark.index ==
               characters + (size_t)node->lead + node->quoted;
}

static enum status merge_keys(struct node *map, struct error *e)
{
    for (size_t i = 0; i < map->n; i++)
        if (map->items[i].merges)
            return map_merge(map, i, e);
    return OK;
}

/* Reads a value other than an alias. `anchor`: name of the anchor before the value; NULL if
 * none. */
static enum status read_value(struct reader *r, const yaml_event_t *event, const char *anchor,
                              struct node *node, int depth, struct error *e)
{
    if (event->type == YAML_SCALAR_EVENT) {
        node->kind = NODE_SCALAR;
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        /* 2: the & before the anchor and a blank after it */
        node->lead = node->quoted + (anchor != NULL ? (int)strlen(anchor) + 2 : 0);
        node->verbatim = is_verbatim(event, node);
        return copy_scalar(r, event, &node->text, e);
    }
    node->kind = event->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST;
    TRY(read_items(r, node, depth, e));
    return merge_keys(node, e);
}

static enum status read_node(struct reader *r, const yaml_event_t *event, struct node *node,
                             int depth, struct error *e)
{
    const char *anchor = anchor_of(event);
    size_t i;
    node->mark = event_mark(r, event);
    if (depth > YAML_DEPTH_MAX)
        return mark_error(e, ERR_SPEC, node->mark, "this value is nested more than %d levels deep",
                          YAML_DEPTH_MAX);
    if (event->type == YAML_ALIAS_EVENT)
        return anchors_repeat(node, &r->anchors, anchor, node->mark, depth, e);
    TRY(refuse_tag(r, event, e));
    if (anchor == NULL)
        return read_value(r, event, anchor, node, depth, e);
    TRY(anchors_begin(&r->anchors, &i, anchor, node->mark, e));
    TRY(read_value(r, event, anchor, node, depth, e));
    return anchors_end(&r->anchors, i, node, e);
}

/* Consumes the next event. *mark: position of the event; *taken: whether it has type `type`. */
static enum status take_event(struct reader *r, yaml_event_type_t type, bool *taken,
                              struct mark *mark, struct error *e)
{
    yaml_event_t event;
    TRY(next_event(r, &event, e));
    *taken = event.type == type;
    *mark = event_mark(r, &event);
    yaml_event_delete(&event);
    return OK;
}

static enum status read_document(struct reader *r, struct node *root, struct error *e)
{
    bool taken;
    struct mark mark;
    TRY(take_event(r, YAML_STREAM_START_EVENT, &taken, &mark, e));
    TRY(take_event(r, YAML_DOCUMENT_START_EVENT, &taken, &mark, e));
    if (!taken)
        return mark_error(e, ERR_SPEC, place_mark(r, 0, 0), "the file is empty");
    TRY(read_next(r, root, 0, e));
    TRY(take_event(r, YAML_DOCUMENT_END_EVENT, &taken, &mark, e));
    TRY(take_event(r, YAML_STREAM_END_EVENT, &taken, &mark, e));
    if (!taken)
        return mark_error(e, ERR_SPEC, mark, "found a second YAML document; expected one per file");
    return OK;
}

static enum status read_buffer(struct node *root, const char *text, size_t size, struct mark origin,
                               struct error *e)
{
    struct reader r = {.text = text, .size = size, .origin = origin};
    if (!yaml_parser_initialize(&r.parser))
        return error_no_memory(e, origin.file);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    enum status status = read_document(&r, root, e);
    yaml_parser_delete(&r.parser);
    anchors_free(&r.anchors);
    return status;
}

/* Reads a file of at most FILE_BYTES_MAX bytes; ERR_SPEC if it is larger. Caller frees *bytes, even
 * after an error. */
static enum status load_bytes(FILE *file, const char *path, char **bytes, size_t *size,
                              struct error *e)
{
    *bytes = malloc(FILE_BYTES_MAX + 1);
    if (*bytes == NULL)
        return error_no_memory(e, path);
    *size = fread(*bytes, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file))
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (*size > FILE_BYTES_MAX)
        return error_at(e, ERR_SPEC, path, 0, 0, "expected a YAML file of at most 1 MiB");
    return OK;
}

enum status yaml_read_file(struct node *root, const char *path, struct error *e)
{
    memset(root, 0, sizeof *root);
    const char *why;
    FILE *file = file_open_pipe(path, &why);
    if (file == NULL)
        return error_at(e, ERR_SPEC, path, 0, 0, "cannot be opened: %s", why);
    char *bytes = NULL;
    size_t size = 0;
    enum status status = load_bytes(file, path, &bytes, &size, e);
    fclose(file);
    /* Skip the byte-order mark that some editors write. */
    size_t mark = status == OK && size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (status == OK)
        status = read_buffer(root, bytes + mark, size - mark, mark_in(path, 1, 1), e);
    free(bytes);
    return status;
}

enum status yaml_read_text(struct node *root, const char *text, struct mark origin, struct error *e)
{
    memset(root, 0, sizeof *root);
    return read_buffer(root, text, strlen(text), origin, e);
}
