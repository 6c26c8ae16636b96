#include "bench/page/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/compare/format.h"
#include "bench/page/html.h"
#include "kernels/base/mem.h"

static const struct {
    const char *name;
    enum column_id published;
} quantities[] = {
#define COMPARED(name, better, good, bad, run, source, raw, clock, published, ...)                 \
    {#name, COLUMN_##published},
#include "bench/compare/compared.def"
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

/* ---- Judging ---- */

static bool is_published(const struct summary *s, enum column_id column)
{
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(published_value(s, i, column)))
            return true;
    return false;
}

/* No point that both have is no error. */
static enum status add(struct verdicts *verdicts, const struct compare_request *request,
                       struct error *e)
{
    struct comparison *c = &verdicts->items[verdicts->n];
    struct error why = {.status = OK};
    enum status status = compare_run(c, request, &why);
    if (status == OK) {
        verdicts->n++;
        return OK;
    }
    compare_free(c);
    if (status == ERR_UNAVAILABLE)
        return OK;
    *e = why;
    return status;
}

enum status verdicts_make(struct verdicts *verdicts, const struct summary *s, const char *path,
                          const char *out, const char *home, struct error *e)
{
    const char *const operands[] = {"published", path};
    struct compare_request request = {
        .operands = operands, .n_operands = 2, .out = out, .home = home};
    *verdicts = (struct verdicts){.n = 0};
    if (s->published == NULL || s->published->file[0] == '\0')
        return OK;
    TRY(MEM_NEW(verdicts->items, QUANTITIES, "the verdicts of a page", e));
    for (size_t i = 0; i < QUANTITIES; i++) {
        if (!is_published(s, quantities[i].published))
            continue;
        request.quantity = quantities[i].name;
        TRY(add(verdicts, &request, e));
    }
    return OK;
}

void verdicts_free(struct verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->n; i++)
        compare_free(&verdicts->items[i]);
    free(verdicts->items);
    *verdicts = (struct verdicts){.n = 0};
}

static bool shows(const struct figure_request *figure, const char *bars, const char *quantity)
{
    const struct value *y = &figure->options[FIGURE_Y];
    if (!figure->published)
        return false;
    for (size_t i = 0; i < y->n; i++)
        if (strcmp(y->texts[i], quantity) == 0)
            return true;
    return y->n == 0 && strcmp(bars, quantity) == 0;
}

const struct comparison *verdicts_of(const struct verdicts *verdicts,
                                     const struct figure_request *figure, const char *bars,
                                     size_t i)
{
    for (size_t k = 0; k < verdicts->n; k++)
        if (shows(figure, bars, verdicts->items[k].what->name) && i-- == 0)
            return &verdicts->items[k];
    return NULL;
}

bool verdict_is_shown(const struct comparison *c, const struct value *figures, const char *bars)
{
    for (size_t i = 0; i < figures->n; i++)
        if (shows(&figures->figures[i], bars, c->what->name))
            return true;
    return false;
}

/* ---- Telling ---- */

void verdict_write_counts(FILE *out, const struct comparison *c)
{
    const struct {
        enum verdict verdict;
        const char *name;
    } rows[] = {{VERDICT_GOOD, c->what->good},
                {VERDICT_SAME, "the same"},
                {VERDICT_BAD, c->what->bad},
                {VERDICT_UNDECIDED, "undecided"}};
    size_t told = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (c->verdicts[rows[i].verdict] > 0)
            fprintf(out, "%s%zu %s", told++ > 0 ? ", " : "", c->verdicts[rows[i].verdict],
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

static void write_row(FILE *out, const struct comparison *c, size_t i, const char *id)
{
    char text[TEXT_NUMBER], ratio[TEXT_INTERVAL];
    const struct compare_cell *cell = compare_cell(c, i, 1);
    const struct judged *j = &cell->judged;
    if (cell->point == NULL || !isfinite(j->ratio.mid))
        return;
    fprintf(out, "<tr id=\"%s-%zu\"><th scope=\"row\"><a href=\"#%s-%zu\">", id, i + 1, id, i + 1);
    html_text(out, compare_label(&c->sides[0].points[i]));
    fprintf(out, "</a></th><td class=\"n\">%s</td>", text_significant(text, j->reference, 4));
    fprintf(out, "<td class=\"n\">%s</td>", text_significant(text, j->median, 4));
    fprintf(out, "<td class=\"n\">%s</td><td title=\"", format_ratio(ratio, j));
    html_text(out, j->reason);
    fprintf(out, "\"><span class=\"verdict %s\">%s</span></td><td class=\"n\">%zu</td></tr>\n",
            verdict_class(j->verdict), verdict_name(j->verdict, c->what), j->n);
}

static void print_notes(FILE *out, const void *comparison)
{
    format_write_notes(out, comparison);
}

enum status verdict_write(FILE *out, const struct comparison *c, const char *id, struct error *e)
{
    fputs("<p class=\"finding\"><strong>Beside published numbers</strong>, ", out);
    html_text(out, c->what->title);
    fputs(": ", out);
    verdict_write_counts(out, c);
    fputs(".</p>\n<div class=\"scroll\"><table><thead><tr><th>point</th><th "
          "class=\"n\">published</th>"
          "<th class=\"n\">measured</th><th class=\"n\">ratio [interval]</th><th>verdict</th>"
          "<th class=\"n\">launches</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < c->sides[0].n; i++)
        write_row(out, c, i, id);
    fputs("</tbody></table></div>\n<details><summary>How this was judged</summary>\n", out);
    TRY(html_paragraphs(out, "p", print_notes, c, e));
    fputs("</details>\n", out);
    return OK;
}
