#include <math.h>

#include "bench/collect/published.h"
#include "bench/compare/comparison.h"
#include "bench/compare/format.h"
#include "bench/page/section.h"

static const struct {
    const char *name;
    enum column_id published;
} quantities[] = {
#define COMPARED(name, better, good, bad, run, source, raw, clock, published, ...)                 \
    {#name, COLUMN_##published},
#include "bench/compare/compared.def"
};

static bool is_published(const struct summary *s, enum column_id column)
{
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(published_value(s, i, column)))
            return true;
    return false;
}

static void print_counts(FILE *out, const void *comparison)
{
    const struct comparison *c = comparison;
    const struct {
        enum verdict verdict;
        const char *name;
    } rows[] = {{VERDICT_GOOD, c->rules.what->good},
                {VERDICT_SAME, "the same"},
                {VERDICT_BAD, c->rules.what->bad},
                {VERDICT_UNDECIDED, "undecided"}};
    size_t printed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (c->verdicts[rows[i].verdict] > 0)
            fprintf(out, "%s%zu %s", printed++ > 0 ? ", " : "", c->verdicts[rows[i].verdict],
                    rows[i].name);
    fprintf(out, " of %zu %s", c->n_ratios, c->n_ratios > 1 ? "points" : "point");
}

static const char *verdict_class(enum verdict verdict)
{
    static const char *const classes[] = {
        [VERDICT_NONE] = "none", [VERDICT_SAME] = "same",           [VERDICT_GOOD] = "good",
        [VERDICT_BAD] = "bad",   [VERDICT_UNDECIDED] = "undecided",
    };
    return classes[verdict];
}

static json_t *row_of(const struct comparison *c, size_t i, const struct judged *j)
{
    char published[TEXT_NUMBER], measured[TEXT_NUMBER], ratio[TEXT_INTERVAL];
    text_significant(published, j->reference, 4);
    text_significant(measured, j->median, 4);
    return json_pack("[[i, o], s, s, s, {s:s, s:s, s:o}, i]", (int)i + 1,
                     data_text(compare_label(&c->sides[0].points[i])), published, measured,
                     format_ratio(ratio, j), "text", verdict_name(j->verdict, c->rules.what),
                     "verdict", verdict_class(j->verdict), "title", data_text(j->reason),
                     (int)j->n);
}

static json_t *rows_of(const struct comparison *c)
{
    json_t *rows = json_pack("[[s, s, s, s, s, s]]", "point", "published", "measured",
                             "ratio [interval]", "verdict", "launches");
    for (size_t i = 0; i < c->sides[0].n; i++) {
        const struct compare_cell *cell = compare_cell(c, i, 1);
        if (cell->point != NULL && isfinite(cell->judged.ratio.mid))
            json_array_append_new(rows, row_of(c, i, &cell->judged));
    }
    return rows;
}

static void print_notes(FILE *out, const void *comparison)
{
    format_write_notes(out, comparison);
}

/* Returns a comparison as page data: a sentence that counts the verdicts, one row per point, notes
 * on the method. */
static json_t *comparison_data(const struct comparison *c)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", c->rules.what->name, "title",
                     c->rules.what->title, "counts", data_print(print_counts, c), "rows",
                     rows_of(c), "notes", data_print(print_notes, c));
}

/* Adds a comparison with published numbers. If run and publication have no common point, adds
 * nothing. */
static enum status add(json_t *section, const struct compare_request *request, struct error *e)
{
    struct comparison c;
    struct error why = {.status = OK};
    enum status status = compare_run(&c, request, &why);
    THEN(status, data_add(section, "compared", comparison_data(&c), &why));
    compare_free(&c);
    if (status == OK || status == ERR_UNAVAILABLE)
        return OK;
    *e = why;
    return status;
}

enum status published_add(json_t *section, const struct summary *s, const char *path,
                          const struct page_request *request, struct error *e)
{
    const char *const operands[] = {"published", path};
    struct compare_request compared = {
        .operands = operands, .n_operands = 2, .out = request->out, .home = request->tools->home};
    if (s->published == NULL || s->published->file[0] == '\0')
        return OK;
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        compared.quantity = quantities[i].name;
        if (is_published(s, quantities[i].published))
            TRY(add(section, &compared, e));
    }
    return OK;
}
