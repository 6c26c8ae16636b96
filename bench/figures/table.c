#include "bench/figures/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/names.h"

enum status table_add_row(struct figure_table *t, const struct table_row *row, struct error *e)
{
    TRY(MEM_GROW(t->rows, t->n, "a figure", e));
    t->rows[t->n++] = *row;
    return OK;
}

enum status table_add_series(struct figure_table *t, const struct table_series *series,
                             struct error *e)
{
    TRY(MEM_GROW(t->series, t->n_series, "a figure", e));
    t->series[t->n_series++] = *series;
    return OK;
}

enum status table_add_dot(struct figure_table *t, struct table_dots *dots, double value,
                          struct error *e)
{
    if (!isfinite(value))
        return OK;
    TRY(MEM_GROW(t->dots, t->n_dots, "a figure", e));
    dots->first = dots->n == 0 ? t->n_dots : dots->first;
    t->dots[t->n_dots++] = value;
    dots->n++;
    return OK;
}

/* Returns the number of a name on the x axis, from 1; adds the name if it is new. Returns 0 on
 * error. */
size_t table_find_name(struct figure_table *t, const char *text, struct error *e)
{
    int known = name_index(text, (const char *const *)t->names, t->n_names);
    if (known >= 0)
        return (size_t)known + 1;
    if (MEM_GROW(t->names, t->n_names, "a figure", e) != OK)
        return 0;
    t->names[t->n_names] = strdup(text);
    if (t->names[t->n_names] == NULL)
        return error_no_memory(e, "a figure"), (size_t)0;
    return ++t->n_names;
}

static int by_place(const void *a, const void *b)
{
    const struct table_row *x = a, *y = b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* Copies the known values of row `from` to row `to`. Both rows have the same series and x, and the
 * same point unless `from` has none. */
static void join(struct table_row *to, const struct table_row *from, size_t columns)
{
    for (size_t k = 0; k < columns; k++) {
        if (isfinite(from->values[k].value.mid)) {
            to->values[k] = from->values[k];
            to->dots[k] = from->dots[k];
        }
        if (isfinite(from->published[k]))
            to->published[k] = from->published[k];
    }
}

void table_sort(struct figure_table *t, size_t columns)
{
    size_t n = 0;
    if (t->n > 0)
        qsort(t->rows, t->n, sizeof *t->rows, by_place);
    for (size_t i = 0; i < t->n; i++) {
        struct table_row *last = n > 0 ? &t->rows[n - 1] : NULL;
        if (last != NULL && last->series == t->rows[i].series && last->x == t->rows[i].x &&
            (last->point == t->rows[i].point || t->rows[i].point == NO_POINT))
            join(last, &t->rows[i], columns);
        else
            t->rows[n++] = t->rows[i];
    }
    t->n = n;
}

static void cut_ends_of(struct figure_table *t, size_t first, size_t end, size_t k)
{
    size_t most = 0;
    for (size_t i = first; i < end; i++)
        most = t->rows[i].values[k].n > most ? t->rows[i].values[k].n : most;
    for (size_t i = first; i < end; i++) {
        struct table_row *row = &t->rows[i];
        if (2 * row->values[k].n > most)
            continue;
        row->values[k] = table_empty_row(0, 0, 0).values[k];
        row->dots[k] = (struct table_dots){0};
    }
}

void table_cut_ends(struct figure_table *t, size_t columns)
{
    for (size_t first = 0, end; first < t->n; first = end) {
        for (end = first; end < t->n && t->rows[end].series == t->rows[first].series;)
            end++;
        for (size_t k = 0; k < columns; k++)
            cut_ends_of(t, first, end, k);
    }
}

void table_free(struct figure_table *t)
{
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i]);
    free(t->names);
    free(t->rows);
    free(t->series);
    free(t->dots);
    *t = (struct figure_table){0};
}

struct table_row table_empty_row(size_t series, size_t point, double x)
{
    struct table_row row = {.series = series, .point = point, .x = x};
    for (size_t k = 0; k < FIGURE_COLUMNS_MAX; k++) {
        row.values[k].value.mid = row.values[k].value.lo = row.values[k].value.hi = NAN;
        row.published[k] = NAN;
    }
    return row;
}
