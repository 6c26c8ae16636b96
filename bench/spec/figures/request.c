#include "bench/spec/figures/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

enum {
    NAME_BYTES_MAX = 40, /* largest length of a figure's name in bytes, without the final NUL */
    PRESET_BYTES = 256,  /* size of the text with the default options of a kind of figure */
};

#define PREFIX "figures."

static const struct spec_option options[] = {
#define FIGURE_OPTION(id, key, type, preset, names, help)                                          \
    {0, PREFIX key, TYPE_##type, SCOPE_FIGURE, "", 0, 0, preset, names, help, false},
#include "bench/spec/figures/figure_options.def"
#define PUBLISHED_OPTION(id, key, type, preset, names, help)                                       \
    {0, PREFIX key, TYPE_##type, SCOPE_FIGURE, "", 0, 0, preset, names, help, false},
#include "bench/spec/figures/figure_options.def"
};

static const char published_group[] = "published";

enum { OPT_nothing = OPTION_COUNT };

static const struct figure_kind kinds[] = {
#define FIGURE(name, summary, wants, shape, script, preset) {#name, script, preset, OPT_##wants},
#include "bench/spec/figures/figures.def"
};

const struct spec_option *figure_option_at(size_t i)
{
    return i < sizeof options / sizeof *options ? &options[i] : NULL;
}

const struct spec_option *figure_option_find(const char *key)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].key, key) == 0)
            return &options[i];
    return NULL;
}

const struct figure_kind *figure_kind_get(const struct figure_request *request)
{
    return &kinds[(int)request->options[FIGURE_KIND].number];
}

const char *figure_request_name(const struct figure_request *request)
{
    const char *name = request->options[FIGURE_NAME].text;
    return name[0] ? name : request->options[FIGURE_KIND].text;
}

/* ---- Read a figure ---- */

/* Returns the last part of a key: "x_scale" of "figures.x_scale", "file" of
 * "figures.published.file". */
static const char *word_of(const struct spec_option *option)
{
    return strrchr(option->key, '.') + 1;
}

static enum status unknown_option(const struct spec_option *rows, size_t n, const char *of,
                                  bool published, const struct node *entry, struct error *e)
{
    enum { ROWS = sizeof options / sizeof *options };
    const char *known[ROWS + 1], *paths[ROWS];
    char text[512];
    for (size_t i = 0; i < n; i++)
        known[i] = word_of(&rows[i]);
    for (size_t i = 0; i < ROWS; i++)
        paths[i] = options[i].key;
    if (published)
        known[n++] = published_group;
    struct name_places places = {known, n, paths, ROWS, NULL};
    return mark_error(e, ERR_SPEC, entry->key_mark, "%s: %s", of,
                      name_explain_place(text, sizeof text, entry->key, &places));
}

/* Reads one option. A single text is accepted in place of a list with one text. */
static enum status read_option(struct value *value, const struct given *g, struct error *e)
{
    struct node list = {
        .kind = NODE_LIST, .mark = g->node->mark, .n = 1, .items = (struct node *)g->node};
    bool single = g->option->type == TYPE_STRINGS && g->node->kind == NODE_SCALAR;
    return value_parse_plain(value, single ? &(struct given){g->option, &list} : g, e);
}

static enum status read_entry(struct value *values, const struct spec_option *rows, size_t n,
                              const char *of, bool published, const struct node *entry,
                              struct error *e)
{
    size_t i = 0;
    while (i < n && strcmp(word_of(&rows[i]), entry->key) != 0)
        i++;
    return i < n ? read_option(&values[i], &(struct given){&rows[i], entry}, e)
                 : unknown_option(rows, n, of, published, entry, e);
}

/* Sets all options to their defaults. An option without a default gets an empty text. */
static enum status set_presets(struct value *values, const struct spec_option *rows, size_t n,
                               struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        struct node node;
        if (rows[i].preset == NULL || rows[i].preset[0] == '\0') {
            TRY(node_copy_text(&values[i].text, "", "a figure", e));
            continue;
        }
        enum status status =
            yaml_read_text(&node, rows[i].preset, (struct mark){.file = "preset"}, e);
        THEN(status, value_parse_plain(&values[i], &(struct given){&rows[i], &node}, e));
        node_free(&node);
        TRY(status);
        values[i].set = false;
    }
    return OK;
}

static enum status read_source(struct figure_source *source, const struct node *map,
                               struct error *e)
{
    const struct spec_option *rows = &options[FIGURE_OPTIONS];
    if (map->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, map->mark,
                          "figures.published: expected true, false, a map such as {file: "
                          "table.csv, keys: [epoch], values: [train_loss]}, or a list of maps");
    TRY(set_presets(source->options, rows, PUBLISHED_OPTIONS, e));
    for (size_t i = 0; i < map->n; i++)
        TRY(read_entry(source->options, rows, PUBLISHED_OPTIONS, "figures.published", false,
                       &map->items[i], e));
    if (!source->options[PUBLISHED_FILE].set || source->options[PUBLISHED_VALUES].n == 0)
        return mark_error(e, ERR_SPEC, map->mark,
                          "figures.published: expected a map with file and values, such as {file: "
                          "table.csv, keys: [epoch], values: [train_loss]}");
    return OK;
}

static void free_sources(struct figure_request *r)
{
    for (size_t k = 0; k < r->n_sources; k++)
        for (int i = 0; i < PUBLISHED_OPTIONS; i++)
            value_free_plain(&r->sources[k].options[i]);
    free(r->sources);
    r->sources = NULL;
    r->n_sources = 0;
}

/* Reads `published`: yes, no, or files with published values. Any of the three replaces the files
 * in the defaults of the figure's kind. */
static enum status read_published(struct figure_request *r, const struct node *node,
                                  struct error *e)
{
    bool yes = false, word = node->kind == NODE_SCALAR && bool_parse(node->text, &yes);
    const struct node *maps = node->kind == NODE_LIST ? node->items : node;
    size_t n = word ? 0 : node->kind == NODE_LIST ? node->n : 1;
    r->published = yes;
    r->published_set = true;
    free_sources(r);
    TRY(MEM_NEW(r->sources, n, "a figure", e));
    for (size_t i = 0; i < n; i++)
        TRY(read_source(&r->sources[r->n_sources++], &maps[i], e));
    return OK;
}

static enum status read_map(struct figure_request *r, const struct node *map, struct error *e)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct node *entry = &map->items[i];
        TRY(strcmp(entry->key, published_group) == 0
                ? read_published(r, entry, e)
                : read_entry(r->options, options, FIGURE_OPTIONS, "figures", true, entry, e));
    }
    return OK;
}

/* Reads `text`, the default options of the figure's kind, and marks them as not set by the spec. */
static enum status read_preset(struct figure_request *r, const char *text, struct error *e)
{
    char flow[PRESET_BYTES];
    struct node map;
    snprintf(flow, sizeof flow, "{%s}", text);
    enum status status = yaml_read_text(&map, flow, (struct mark){.file = "preset"}, e);
    THEN(status, read_map(r, &map, e));
    node_free(&map);
    for (int i = 0; i < FIGURE_OPTIONS; i++)
        r->options[i].set = false;
    r->published_set = false;
    return status;
}

/* Checks the name, which becomes part of file names. */
static enum status check_name(const struct figure_request *r, struct error *e)
{
    const struct value *name = &r->options[FIGURE_NAME];
    bool sane = strlen(name->text) <= NAME_BYTES_MAX && name->text[0] != '.';
    for (const char *c = name->text; *c; c++)
        sane &= isalnum((unsigned char)*c) || strchr("_-.", *c) != NULL;
    return sane ? OK
                : mark_error(e, ERR_SPEC, name->mark,
                             "figures.name: '%s' is not a valid file name: expected at most %d "
                             "characters: letters, digits, _ - and ., not beginning with a dot",
                             name->text, NAME_BYTES_MAX);
}

enum status figure_request_read(struct figure_request *r, const struct node *node, struct error *e)
{
    const struct node *kind = node->kind == NODE_MAP ? node_find(node, "kind") : node;
    *r = (struct figure_request){.mark = node->mark, .published = true};
    if (kind == NULL || node->kind == NODE_LIST)
        return mark_error(e, ERR_SPEC, node->mark,
                          "figures: expected a kind of figure, such as time, or a map with the key "
                          "`kind`, such as {kind: line, y: wait_ms}");
    TRY(set_presets(r->options, options, FIGURE_OPTIONS, e));
    TRY(read_option(&r->options[FIGURE_KIND], &(struct given){&options[FIGURE_KIND], kind}, e));
    TRY(read_preset(r, figure_kind_get(r)->preset, e));
    r->options[FIGURE_KIND].set = true;
    if (node->kind == NODE_MAP)
        TRY(read_map(r, node, e));
    return check_name(r, e);
}

static bool has_same_sources(const struct figure_request *a, const struct figure_request *b)
{
    bool same = a->n_sources == b->n_sources && a->published == b->published;
    for (size_t k = 0; same && k < a->n_sources; k++)
        for (int i = 0; i < PUBLISHED_OPTIONS; i++)
            same = same && value_equal(&a->sources[k].options[i], &b->sources[k].options[i]);
    return same;
}

bool figure_request_same(const struct figure_request *a, const struct figure_request *b)
{
    bool same = has_same_sources(a, b);
    for (int i = 0; i < FIGURE_OPTIONS; i++)
        same = same && (i == FIGURE_NAME || i == FIGURE_TITLE ||
                        value_equal(&a->options[i], &b->options[i]));
    return same;
}

/* ---- Copy and free ---- */

enum status figure_request_copy(struct figure_request *to, const struct figure_request *from,
                                struct error *e)
{
    *to = *from;
    memset(to->options, 0, sizeof to->options);
    to->sources = NULL;
    to->n_sources = 0;
    for (int i = 0; i < FIGURE_OPTIONS; i++)
        TRY(value_copy_plain(&to->options[i], &from->options[i], e));
    TRY(MEM_NEW(to->sources, from->n_sources, "a figure", e));
    for (; to->n_sources < from->n_sources; to->n_sources++)
        for (int i = 0; i < PUBLISHED_OPTIONS; i++)
            TRY(value_copy_plain(&to->sources[to->n_sources].options[i],
                                 &from->sources[to->n_sources].options[i], e));
    return OK;
}

void figure_request_free(struct figure_request *r)
{
    for (int i = 0; i < FIGURE_OPTIONS; i++)
        value_free_plain(&r->options[i]);
    free_sources(r);
    *r = (struct figure_request){0};
}

/* ---- Write a figure ---- */

static void write_option(FILE *out, const struct spec_option *option, const char *text,
                         const char *before)
{
    fprintf(out, "%s%s: ", before, word_of(option));
    if (option->type == TYPE_TEXT)
        value_write_quoted(out, text);
    else
        fputs(text, out);
}

static void write_source(FILE *out, const struct figure_source *source,
                         const char *(*path_of)(const void *arg, const char *text), const void *arg)
{
    const char *before = "{";
    for (int i = 0; i < PUBLISHED_OPTIONS; i++) {
        const char *text = source->options[i].text;
        if (!source->options[i].set)
            continue;
        write_option(out, &options[FIGURE_OPTIONS + i],
                     i == PUBLISHED_FILE && path_of != NULL ? path_of(arg, text) : text, before);
        before = ", ";
    }
    fputc('}', out);
}

static void write_published(FILE *out, const struct figure_request *r,
                            const char *(*path_of)(const void *arg, const char *text),
                            const void *arg)
{
    fprintf(out, ", %s: ", published_group);
    if (r->n_sources == 0)
        fputs(r->published ? "true" : "false", out);
    for (size_t i = 0; i < r->n_sources; i++) {
        fputs(i > 0 ? ", " : "[", out);
        write_source(out, &r->sources[i], path_of, arg);
    }
    fputs(r->n_sources > 0 ? "]" : "", out);
}

void figure_request_write(FILE *out, const struct figure_request *r,
                          const char *(*path_of)(const void *arg, const char *text),
                          const void *arg)
{
    bool more = r->published_set;
    for (int i = 0; i < FIGURE_OPTIONS; i++)
        more |= i != FIGURE_KIND && r->options[i].set;
    if (!more) {
        fputs(r->options[FIGURE_KIND].text, out);
        return;
    }
    for (int i = 0; i < FIGURE_OPTIONS; i++)
        if (r->options[i].set)
            write_option(out, &options[i], r->options[i].text, i > 0 ? ", " : "{");
    if (r->published_set)
        write_published(out, r, path_of, arg);
    fputc('}', out);
}
