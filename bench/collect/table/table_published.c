/* Shows published values in the table, beside our values, and explains the published values below
 * the table. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

/* Returns whether tables have this column even without published values. If not, add_pair adds the
 * column beside the published one. */
static bool is_shown(enum column_id column)
{
    return column == COLUMN_test_acc_pct || column == COLUMN_step_ms_median;
}

static void format_cell(char text[TABLE_CELL], const struct table_column *column,
                        const struct point_summary *p)
{
    double x = cell_number(p, column->cell);
    if (!isnan(x))
        text_significant(text, x, 4);
}

static void add_pair(struct table *t, const struct published *p, size_t k)
{
    const char *name = column_get(p->columns[k])->name;
    struct table_column column = {
        .header = name, .worth = 7, .format = format_cell, .cell = p->columns[k]};
    if (!is_shown(p->columns[k]))
        t->columns[t->n++] = column;
    snprintf(t->published_headers[k], sizeof t->published_headers[k], "published %s", name);
    column.header = t->published_headers[k];
    column.published = true;
    t->columns[t->n++] = column;
}

void table_add_published(struct table *t, const struct published *p)
{
    for (int shown = 1; shown >= 0; shown--)
        for (size_t k = 0; k < p->n; k++)
            if (is_shown(p->columns[k]) == shown)
                add_pair(t, p, k);
}

/* Appends the difference between our value and the published value x: in percentage points if both
 * are percentages, else in per cent of x (nothing if x is 0). */
static void add_error(char *text, size_t room, enum column_id column, double ours, double x)
{
    if (strcmp(column_get(column)->unit, "%") == 0)
        snprintf(text, room, " (%+.2f)", ours - x);
    else if (x != 0)
        snprintf(text, room, " (%+.3g %%)", 100 * (ours / x - 1));
}

void table_format_published(char text[TABLE_CELL], const struct table *t,
                            const struct table_column *column, const struct point_summary *p)
{
    enum column_id id = column->cell;
    double x = published_value(t->s, (size_t)(p - t->s->points), id), ours = cell_number(p, id);
    if (!isfinite(x))
        return;
    size_t n = strlen(text_real(text, x));
    if (!isnan(ours))
        add_error(text + n, TABLE_CELL - n, id, ours, x);
}

void table_print_published(FILE *out, const struct summary *s)
{
    const struct value *differs = &s->spec->config.values[OPT_DIFFERS];
    if (s->published != NULL && s->published->file[0] != '\0')
        fprintf(out,
                "Published values: %s, of which %zu of %zu rows have a point here. In brackets: "
                "measured minus published, in %% of the published value or in percentage "
                "points.%s\n",
                s->published->file, s->published->matched, s->published->rows,
                published_withholds(s)
                    ? " Accuracy and loss are left out, since the data here are generated."
                    : "");
    for (size_t i = 0; i < differs->n; i++)
        fprintf(out, "Difference from the report: %s\n", differs->texts[i]);
}
