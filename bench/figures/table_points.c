/* Fills a figure's table: reads values of points into its rows, then sorts and checks the rows of
 * all sources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/figures/launches.h"
#include "kernels/base/mem.h"

/* ---- The table ---- */

enum status figure_measure_points(struct figure_data *d, const struct quantity *quantity,
                                  struct error *e)
{
    struct launches *l = NULL;
    for (size_t i = 0; quantity->source == SOURCE_POINTS && i < d->s->n; i++)
        d->measured[i] = quantity_measure(quantity, &d->s->points[i]);
    if (quantity->source == SOURCE_POINTS)
        return OK;
    enum status status = launches_read(&l, d, quantity, e);
    if (status == OK)
        launches_measure(d, l);
    launches_free(l);
    return status;
}

/* Adds the values of all launches of a point and of the points that repeat it, to be drawn as dots.
 * Adds none if there is only one value. */
static enum status take_dots(struct figure_data *d, struct table_dots *dots, size_t point,
                             const struct launches *l, struct error *e)
{
    size_t n, last = d->repeats ? d->s->n : point + 1;
    for (size_t i = point; i < last; i++) {
        const struct launch_row *launches = launches_of(l, i, &n);
        for (size_t k = 0; k < n && d->stands_for[i] == point; k++)
            TRY(table_add_dot(&d->table, dots, launches_value(l, i, &launches[k]), e));
    }
    d->table.n_dots -= dots->n == 1; /* a single launch gets no dot: its value is the median */
    dots->n = dots->n == 1 ? 0 : dots->n;
    return OK;
}

static enum status take_point(struct figure_data *d, size_t k, size_t point,
                              const struct launches *l, struct error *e)
{
    struct table_row row = table_empty_row(d->series_of[point], point, NAN);
    TRY(table_x_of_point(&row.x, d, point, e));
    if (!isfinite(row.x))
        return OK;
    row.values[k] = d->measured[point];
    if (d->figure->published)
        row.published[k] = quantity_published(&d->quantities[k], d->s, point);
    if (l != NULL && isfinite(row.values[k].value.mid))
        TRY(take_dots(d, &row.dots[k], point, l, e));
    return table_add_row(&d->table, &row, e);
}

static enum status take_points(struct figure_data *d, size_t k, struct error *e)
{
    const struct quantity *q = &d->quantities[k];
    struct launches *l = NULL;
    TRY(figure_measure_points(d, q, e));
    TRY(figure_join_repetitions(d, e));
    enum status status = launches_have(q) ? launches_read(&l, d, q, e) : OK;
    for (size_t i = 0; i < d->s->n && status == OK; i++)
        if (d->series_of[i] != NO_POINT && d->shown[i])
            status = take_point(d, k, i, l, e);
    launches_free(l);
    return status;
}

static enum status open_series(struct figure_data *d, struct error *e)
{
    for (size_t k = 0; k < d->series.n; k++) {
        const struct series *series = &d->series.items[k];
        struct table_series own = {.point = series->points[series->n - 1], .base = k};
        snprintf(own.name, sizeof own.name, "%s", series->name);
        TRY(table_add_series(&d->table, &own, e));
    }
    return OK;
}

/* Numbers the names on the x axis: cases in the order of the spec, runs in the order of the command
 * line. Otherwise the random order of launches would determine the numbers. */
static enum status name_cases(struct figure_data *d, struct error *e)
{
    double x;
    for (size_t i = 0; i < d->s->n && (d->x.by_case || d->x.by_run); i++)
        if (d->series_of[i] != NO_POINT && d->shown[i])
            TRY(table_x_of_point(&x, d, i, e));
    return OK;
}

/* If option `series` is set and y is read from a file, rejects a figure in which two rows of one
 * series have the same x. */
static enum status check_rows(const struct figure_data *d, struct error *e)
{
    const struct figure_table *t = &d->table;
    if (d->figure->request->options[FIGURE_SERIES].n == 0)
        return OK;
    for (size_t i = 1; i < t->n; i++) {
        const struct table_row *a = &t->rows[i - 1], *b = &t->rows[i];
        const size_t points[] = {a->point, b->point};
        char x[TEXT_NUMBER];
        if (a->series == b->series && a->x == b->x && d->quantities[0].file != NULL)
            return figure_refuse_place(d, t->series[a->series].name,
                                       t->by_name ? t->names[(size_t)a->x - 1] : text_real(x, a->x),
                                       points, 2, e);
    }
    return OK;
}

/* Sets d->measured for captions: for each point, the value with the most launches among the values
 * in its rows. NAN: the point has no value. */
static void sum_up(struct figure_data *d)
{
    memset(d->measured, 0, d->s->n * sizeof *d->measured);
    for (size_t i = 0; i < d->s->n; i++)
        d->measured[i].value.mid = NAN;
    for (size_t i = 0; i < d->table.n; i++) {
        const struct table_row *row = &d->table.rows[i];
        for (size_t k = 0; k < d->n_quantities && row->point != NO_POINT; k++)
            if (row->values[k].n > d->measured[row->point].n)
                d->measured[row->point] = row->values[k];
    }
}

static int by_base(const void *a, const void *b)
{
    const struct table_series *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

/* Sorts the table's series by `base`, from index `first` on, and updates the rows' series indices.
 * Unsorted, the series have the random order in which launches ran. */
static enum status order_parts(struct figure_table *t, size_t first, struct error *e)
{
    size_t *place;
    TRY(MEM_NEW(place, t->n_series, "the series of a figure", e));
    for (size_t i = 0; i < t->n_series; i++)
        t->series[i].nth = i;
    qsort(t->series + first, t->n_series - first, sizeof *t->series, by_base);
    for (size_t i = 0; i < t->n_series; i++)
        place[t->series[i].nth] = i;
    for (size_t i = 0; i < t->n; i++)
        t->rows[i].series = place[t->rows[i].series];
    free(place);
    return OK;
}

enum status table_read(struct figure_data *d, struct error *e)
{
    TRY(open_series(d, e));
    TRY(name_cases(d, e));
    size_t of_points = d->table.n_series;
    for (size_t k = 0; k < d->n_quantities; k++)
        TRY(d->quantities[k].file != NULL ? table_gather(d, k, e) : take_points(d, k, e));
    if (d->table.n_series > of_points)
        TRY(order_parts(&d->table, of_points, e));
    table_sort(&d->table, d->n_quantities);
    TRY(check_rows(d, e));
    TRY(table_add_sources(d, e));
    table_sort(&d->table, d->n_quantities);
    if (d->x.by_column && strcmp(d->x.name, "time_s") == 0)
        table_cut_ends(&d->table, d->n_quantities);
    sum_up(d);
    return OK;
}
