/* What was published, in the closing table and below it. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "bench/spec/value.h"

/* Columns that every table ends with or has: what was published for them needs no column of
 * ours. */
static bool is_shown(enum column_id column)
{
    return column == COLUMN_test_acc_pct || column == COLUMN_step_ms_median;
}

static void add_pair(struct table *t, const struct published *p, size_t k)
{
    const char *name = column_get(p->columns[k])->name;
    char *header = t->published_headers[k];
    snprintf(header, sizeof t->published_headers[k], "published %s", name);
    if (!is_shown(p->columns[k]))
        t->columns[t->n++] = (struct table_column){.header = name, .worth = 7, .cell = name};
    t->columns[t->n++] =
        (struct table_column){.header = header, .worth = 7, .cell = name, .published = true};
}

void table_add_published(struct table *t, const struct published *p)
{
    for (int shown = 1; shown >= 0; shown--)
        for (size_t k = 0; k < p->n; k++)
            if (is_shown(p->columns[k]) == shown)
                add_pair(t, p, k);
}

void table_format_published(char text[TABLE_CELL], const struct table *t,
                            const struct table_column *column, const struct point_summary *p)
{
    double x = published_value(t->s, (size_t)(p - t->s->points), column_find(column->cell));
    if (isfinite(x))
        text_real(text, x);
}

void table_format_cell(char text[TABLE_CELL], const struct table_column *column,
                       const struct point_summary *p)
{
    double x;
    if (number_parse(p->cells[column_find(column->cell)], &x))
        text_significant(text, x, 4);
}

void table_print_published(FILE *out, const struct summary *s)
{
    const struct value *differs = &s->spec->config.values[OPT_DIFFERS];
    if (s->published != NULL && s->published->file[0] != '\0')
        fprintf(out, "Published: %s, %zu of its %zu rows have a point here.%s\n",
                s->published->file, s->published->matched, s->published->rows,
                published_withholds(s)
                    ? " Accuracy and loss are not shown: the data here are generated."
                    : "");
    for (size_t i = 0; i < differs->n; i++)
        fprintf(out, "  differs  %s\n", differs->texts[i]);
}
