/* Finds points of one series at the same x. Points that differ only in the seed are repetitions,
 * shown as their median. Other points would make the curve jump, so the figure is rejected. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/mem.h"

/* ---- Messages ---- */

static bool differ_in(const struct figure_data *d, const size_t *points, size_t n,
                      enum option_id option)
{
    const struct summary *s = d->s;
    for (size_t i = 1; i < n; i++)
        if (strcmp(config_text(&s->points[points[i]].point->config, option),
                   config_text(&s->points[points[0]].point->config, option)) != 0)
            return true;
    return false;
}

static bool cases_differ(const struct figure_data *d, const size_t *points, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(d->s->points[points[i]].point->case_name,
                   d->s->points[points[0]].point->case_name) != 0)
            return true;
    return false;
}

/* Sets the error for several points of a series at the same x. The message lists the options in
 * which these points differ, such as "case, train.lr". */
enum status figure_refuse_place(const struct figure_data *d, const char *series, const char *x,
                                const size_t *points, size_t n, struct error *e)
{
    const struct value *wanted = &d->figure->request->options[FIGURE_SERIES];
    char differences[400] = "";
    if (cases_differ(d, points, n))
        text_join(differences, sizeof differences, ", ", FIGURE_CASE);
    for (enum option_id i = 0; i < OPTION_COUNT; i++)
        if (differ_in(d, points, n, i))
            text_join(differences, sizeof differences, ", ",
                      config_option(&d->spec->config, i)->key);
    return mark_error(
        e, ERR_SPEC, wanted->mark,
        "%s = %s: expected one point per value of x in series '%s', found %zu points at %s = %s, "
        "with different values of %s. Use `series` or `where` to separate the points",
        figure_option_at(FIGURE_SERIES)->key, wanted->text, series, n, d->x.name, x, differences);
}

/* ---- Places ---- */

/* Returns the point's value of x as text; "" if x is a column, since each row of the file then has
 * its own x. */
static const char *x_text(const struct figure_data *d, size_t point)
{
    return d->x.by_column ? "" : figure_x_text(d, point);
}

static int by_x(const void *a, const void *b, void *data)
{
    const struct figure_data *d = data;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct point *p = d->s->points[x].point, *q = d->s->points[y].point;
    int order = strcmp(x_text(d, x), x_text(d, y));
    if (order == 0)
        order = q->requested - p->requested;
    return order ? order : (x > y) - (x < y);
}

static bool is_same(const struct point_summary *a, const struct point_summary *b)
{
    bool same_run = a->run == b->run || (a->run != NULL && strcmp(a->run, b->run) == 0);
    return same_run && a->point->twin == b->point->twin;
}

/* Removes duplicates from n points of equal x. Drops each later point with the same options and run
 * as the first. If the first point belongs to the spec's matrix, also drops points outside the
 * matrix, such as added base points. Returns the number of points left in `points`. */
static size_t keep_own(struct figure_data *d, size_t *points, size_t n)
{
    const struct point_summary *first = &d->s->points[points[0]];
    size_t kept = 1;
    for (size_t i = 1; i < n; i++) {
        const struct point_summary *p = &d->s->points[points[i]];
        if (is_same(p, first) || (first->point->requested && !p->point->requested))
            d->stands_for[points[i]] = NO_POINT;
        else
            points[kept++] = points[i];
    }
    return kept;
}

static bool are_repetitions(const struct figure_data *d, const size_t *points, size_t n)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (i != OPT_SEED && differ_in(d, points, n, (enum option_id)i))
            return false;
    return !cases_differ(d, points, n);
}

/* Returns whether rows of different points would have the same x. They do if x is a column that
 * counts within a launch, such as epoch. False if option `series` names a column, or if a point
 * runs a user's program. */
static bool share_rows(const struct figure_data *d, const size_t *points, size_t n)
{
    const struct value *series = &d->figure->request->options[FIGURE_SERIES];
    const char *file = d->quantity->file;
    for (size_t i = 0; i < n; i++)
        if (config_is_foreign(&d->s->points[points[i]].point->config))
            return false;
    for (size_t i = 0; i < series->n; i++)
        if (config_option_find(&d->spec->config, series->texts[i]) == NULL &&
            !figure_is_of_points(d, series->texts[i]))
            return false;
    return file != NULL && csv_file_repeats(file, d->x.name);
}

/* Handles n points at the same x. If x is not a column, keep_own first drops duplicates. The
 * remaining points are joined if they are repetitions; otherwise the figure is rejected. Exception:
 * if x is a column and share_rows returns false, points that are not repetitions are accepted here.
 * check_rows (table_points.c) may still reject the figure. */
static enum status settle_place(struct figure_data *d, const struct series *series, size_t *points,
                                size_t n, struct error *e)
{
    if (n > 1 && !d->x.by_column)
        n = keep_own(d, points, n);
    if (n < 2 || (d->x.by_column && !share_rows(d, points, n) && !are_repetitions(d, points, n)))
        return OK;
    if (!are_repetitions(d, points, n))
        return figure_refuse_place(d, series->name, d->x.by_column ? "1" : x_text(d, points[0]),
                                   points, n, e);
    for (size_t i = 1; i < n; i++)
        d->stands_for[points[i]] = points[0];
    d->repeats = true;
    return OK;
}

static enum status settle_series(struct figure_data *d, const struct series *series, size_t *points,
                                 struct error *e)
{
    memcpy(points, series->points, series->n * sizeof *points);
    qsort_r(points, series->n, sizeof *points, by_x, d);
    for (size_t i = 0, n; i < series->n; i += n) {
        for (n = 1;
             i + n < series->n && strcmp(x_text(d, points[i]), x_text(d, points[i + n])) == 0;
             n++) {
        }
        TRY(settle_place(d, series, points + i, n, e));
    }
    return OK;
}

static void leave_first(struct figure_data *d)
{
    for (size_t k = 0; k < d->series.n; k++) {
        struct series *series = &d->series.items[k];
        size_t n = 0;
        for (size_t i = 0; i < series->n; i++)
            if (d->stands_for[series->points[i]] == series->points[i])
                series->points[n++] = series->points[i];
        series->n = n;
    }
}

enum status figure_settle_places(struct figure_data *d, struct error *e)
{
    size_t *points;
    enum status status = OK;
    TRY(MEM_NEW(d->stands_for, d->s->n, "the points of a figure", e));
    for (size_t i = 0; i < d->s->n; i++)
        d->stands_for[i] = i;
    if (d->figure->request->options[FIGURE_SERIES].n == 0 || d->figure->shape->bars)
        return OK;
    TRY(MEM_NEW(points, d->s->n, "the points of a figure", e));
    for (size_t k = 0; k < d->series.n && status == OK; k++)
        status = settle_series(d, &d->series.items[k], points, e);
    free(points);
    leave_first(d);
    return status;
}

/* ---- Repetitions ---- */

/* Replaces the value of each point that has repetitions by the median over the point and its
 * repetitions. The values of the repetitions become NAN. */
enum status figure_join_repetitions(struct figure_data *d, struct error *e)
{
    double *room;
    if (!d->repeats)
        return OK;
    TRY(MEM_NEW(room, d->s->n, "the points of a figure", e));
    for (size_t i = 0; i < d->s->n; i++) {
        size_t n = 0, last = i;
        for (size_t k = i; k < d->s->n; k++)
            if (d->stands_for[k] == i && isfinite(d->measured[k].value.mid)) {
                room[n++] = d->measured[k].value.mid;
                last = k;
            }
        d->measured[i] = n > 1 ? measured_of(room, n) : d->measured[last];
    }
    for (size_t i = 0; i < d->s->n; i++)
        if (d->stands_for[i] != i)
            d->measured[i] = (struct measured){.value = {NAN, NAN, NAN}};
    free(room);
    return OK;
}
