/* Parses and writes values that are lists. */
#include <stdio.h>
#include <string.h>

#include "bench/spec/pattern.h"
#include "bench/spec/value.h"
#include "bench/spec/values/parts.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

void value_write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

enum status value_set_list(struct value *value, unsigned step, value_item_writer *write,
                           struct error *e)
{
    size_t size;
    FILE *out = open_memstream(&value->text, &size);
    if (out == NULL)
        return error_no_memory(e, "a value");
    fputc('[', out);
    for (unsigned i = 0; i < value->n; i += step) {
        fputs(i > 0 ? ", " : "", out);
        write(out, value, i);
    }
    fputc(']', out);
    return fclose(out) == 0 ? OK : error_no_memory(e, "a value");
}

static void write_number(FILE *out, const struct value *value, unsigned i)
{
    fprintf(out, "%.0f", value->numbers[i]);
}

static void write_name(FILE *out, const struct value *value, unsigned i)
{
    fputs(value->texts[i], out);
}

/* Writes a text in quotation marks, since it may contain a comma or a quotation mark. */
static void write_text(FILE *out, const struct value *value, unsigned i)
{
    value_write_quoted(out, value->texts[i]);
}

static enum status refuse_repeated(const struct given *item, struct error *e)
{
    return value_refuse(e, item, "'%s' is listed twice", item->node->text);
}

enum status value_parse_ints(struct value *value, const struct given *g, struct error *e)
{
    TRY(MEM_NEW(value->numbers, g->node->n, "a value", e));
    value->of_numbers = true;
    for (; value->n < g->node->n; value->n++) {
        const struct given item = {g->option, &g->node->items[value->n]};
        double *number = &value->numbers[value->n];
        TRY(value_parse_whole(&item, number, e));
        for (size_t j = 0; j < value->n; j++)
            if (value->numbers[j] == *number)
                return refuse_repeated(&item, e);
    }
    return value_set_list(value, 1, write_number, e);
}

static bool has_text(const struct value *value, const char *text)
{
    return name_index(text, (const char *const *)value->texts, value->n) >= 0;
}

enum status value_parse_texts(struct value *value, const struct given *g, struct error *e)
{
    bool names = g->option->type == TYPE_TEXTS, distinct = names || g->option->type == TYPE_STRINGS;
    TRY(MEM_NEW(value->texts, g->node->n, "a value", e));
    for (; value->n < g->node->n; value->n++) {
        const struct given item = {g->option, &g->node->items[value->n]};
        int index;
        TRY(names ? value_parse_name(&item, &index, e) : value_check_text(&item, e));
        if (distinct && has_text(value, item.node->text))
            return refuse_repeated(&item, e);
        TRY(node_copy_text(&value->texts[value->n], item.node->text, "a value", e));
    }
    return value_set_list(value, 1, names ? write_name : write_text, e);
}

/* ---- Patterns ---- */

/* Adds option, position and pattern to *e, the error of pattern_open. `at`: offset of the error in
 * the pattern; ignored if the file writes the pattern with escapes or line breaks. Returns
 * ERR_SPEC. */
static enum status refuse_pattern(const struct given *item, size_t at, struct error *e)
{
    struct node place = *item->node;
    if (place.verbatim && at > 0)
        place.mark = mark_ahead(node_text_mark(&place), (int)at);
    return value_refuse(e, &(struct given){item->option, &place}, "%s: '%s'", e->text, place.text);
}

static enum status check_pattern(const struct given *item, struct error *e)
{
    struct pattern *pattern;
    size_t at;
    enum status status = pattern_open(&pattern, item->node->text, &at, e);
    pattern_free(pattern);
    return status == ERR_SPEC ? refuse_pattern(item, at, e) : status;
}

enum status value_parse_patterns(struct value *value, const struct given *g, struct error *e)
{
    char name[PATTERN_NAME], other[PATTERN_NAME];
    TRY(value_parse_texts(value, g, e));
    for (size_t i = 0; i < g->node->n; i++) {
        const struct given item = {g->option, &g->node->items[i]};
        TRY(check_pattern(&item, e));
        pattern_split(name, item.node->text);
        for (size_t k = 0; k < i; k++)
            if (pattern_split(other, g->node->items[k].text) != NULL && strcmp(name, other) == 0)
                return value_refuse(e, &item, "two patterns have the name '%s'", name);
    }
    return OK;
}

/* ---- Segments ---- */

static enum status refuse_segment(const struct given *segment, struct error *e)
{
    return value_refuse(
        e, segment,
        "expected a list of segments, such as [{epoch: 0, ranks: 1}, {epoch: 2, ranks: 2}]");
}

/* Parses the number at `key` of a segment. The number must be within the bounds of option `of`. */
static enum status parse_entry(const struct given *segment, const char *key,
                               const struct spec_option *of, double *number, struct error *e)
{
    const struct node *entry = node_find(segment->node, key);
    if (entry == NULL || entry->kind != NODE_SCALAR || segment->node->n != 2)
        return refuse_segment(segment, e);
    return value_parse_whole(&(struct given){of, entry}, number, e);
}

/* Parses a segment into `pair`: epoch and number of ranks. `before`: pair of the previous segment;
 * NULL if there is none. */
static enum status parse_segment(const struct given *segment, double pair[2], const double *before,
                                 struct error *e)
{
    struct spec_option epoch = *option_get(OPT_EPOCHS), ranks = *option_get(OPT_RANKS);
    if (segment->node->kind != NODE_MAP)
        return refuse_segment(segment, e);
    epoch.key = "elastic: epoch";
    ranks.key = "elastic: ranks";
    epoch.min = 0;
    epoch.preset = ranks.preset = NULL;
    TRY(parse_entry(segment, "epoch", &epoch, &pair[0], e));
    TRY(parse_entry(segment, "ranks", &ranks, &pair[1], e));
    if (before == NULL && pair[0] != 0)
        return value_refuse(e, segment, "the first segment begins with epoch %.0f; expected 0",
                            pair[0]);
    if (before != NULL && pair[0] <= before[0])
        return value_refuse(e, segment, "epoch %.0f follows epoch %.0f; expected ascending epochs",
                            pair[0], before[0]);
    return OK;
}

static void write_segment(FILE *out, const struct value *value, unsigned i)
{
    fprintf(out, "{epoch: %.0f, ranks: %.0f}", value->numbers[i], value->numbers[i + 1]);
}

enum status value_parse_segments(struct value *value, const struct given *g, struct error *e)
{
    TRY(MEM_NEW(value->numbers, 2 * g->node->n, "a value", e));
    value->of_numbers = true;
    for (; value->n < 2 * g->node->n; value->n += 2) {
        double *pair = value->numbers + value->n;
        const double *before = value->n > 0 ? pair - 2 : NULL;
        TRY(parse_segment(&(struct given){g->option, &g->node->items[value->n / 2]}, pair, before,
                          e));
    }
    return value_set_list(value, 2, write_segment, e);
}
