#include "bench/figures/figure_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

static bool is_valued(const struct figure_data *d, size_t point)
{
    return isfinite(d->measured[point].value.mid) || isfinite(figure_data_published(d, point));
}

/* Ranks that train apart have no accuracy runs. What is left of their series has another name. */
static void drop_compute_only(struct series_list *list, const struct summary *s)
{
    size_t kept = 0;
    for (size_t k = 0; k < list->n; k++) {
        struct series *series = &list->items[k];
        size_t n = series->n;
        series->n = 0;
        for (size_t i = 0; i < n; i++)
            if (!s->points[series->points[i]].compute_only)
                series->points[series->n++] = series->points[i];
        if (series->n == 0) {
            free(series->points);
            continue;
        }
        char *lead = strstr(series->name, "compute only (none)");
        if (series->n < n && lead == series->name)
            memmove(lead, "none", 4), memmove(lead + 4, lead + 19, strlen(lead + 19) + 1);
        list->items[kept++] = *series;
    }
    list->n = kept;
}

/* Brings the curves that are drawn to the front: those with a value, as many as fit. Where there is
 * none at all, the legend still says what was asked for. */
static enum status choose_curves(struct figure_data *d, struct error *e)
{
    struct series_list *list = &d->series;
    struct series *items;
    bool any = figure_data_lack(d) == NULL;
    size_t rest = 0;
    TRY(MEM_NEW(items, list->n, "the curves of a figure", e));
    for (size_t k = 0; k < list->n; k++) {
        bool drawn = !any;
        for (size_t i = 0; i < list->items[k].n; i++)
            drawn |= is_valued(d, list->items[k].points[i]);
        d->left_out += drawn && d->curves == FIGURE_CURVES_MAX;
        if (drawn && d->curves < FIGURE_CURVES_MAX)
            list->items[d->curves++] = list->items[k];
        else
            items[rest++] = list->items[k];
    }
    memcpy(list->items + d->curves, items, rest * sizeof *items);
    free(items);
    return OK;
}

/* Every point has a bar where they fit, else those with a value, as many as fit. */
static enum status choose_bars(struct figure_data *d, struct error *e)
{
    size_t n = 0, valued = 0;
    TRY(MEM_NEW(d->bars, d->s->n, "the bars of a figure", e));
    for (size_t i = 0; i < d->s->n; i++)
        n += figure_data_has_bar(d, i);
    for (size_t i = 0; i < d->s->n; i++) {
        if (!figure_data_has_bar(d, i) || (n > FIGURE_BARS_MAX && !is_valued(d, i)))
            continue;
        valued++;
        d->bars[i] = valued <= FIGURE_BARS_MAX;
        d->rows += d->bars[i];
    }
    d->left_out = valued - d->rows;
    return OK;
}

/* fmin and fmax pass over NAN. */
static void widen(struct figure_data *d, double x)
{
    if (!(x > 0))
        return;
    d->least = fmin(d->least, x);
    d->most = fmax(d->most, x);
}

static void count(struct figure_data *d)
{
    d->least = d->most = d->lowest = NAN;
    for (size_t i = 0; i < d->s->n; i++) {
        const struct point_summary *p = &d->s->points[i];
        bool value = isfinite(d->measured[i].value.mid);
        if (d->figure->shape->communicating && !figure_data_has_bar(d, i))
            continue;
        d->values += value;
        d->doubtful += value && p->outcome != POINT_ok;
        d->oversubscribed += value && strstr(p->flags, "oversubscribed") != NULL;
        double published = figure_data_published(d, i);
        d->published += isfinite(published);
        d->predicted += isfinite(figure_data_model(d, i));
        widen(d, published);
        widen(d, d->measured[i].value.mid);
        d->lowest = fmin(d->lowest,
                         fmin(fmin(published, d->measured[i].value.mid), d->measured[i].value.lo));
    }
}

bool figure_data_misses(const struct figure_data *d, size_t point)
{
    return !isfinite(d->measured[point].value.mid) && d->s->points[point].outcome != POINT_ok;
}

const char *figure_data_lack(const struct figure_data *d)
{
    if (d->values + d->published > 0)
        return NULL;
    if (d->quantity->source == SOURCE_RUNS)
        return "no accuracy run has a value";
    if (d->quantity->source == SOURCE_TIMED)
        return "no timed launch has a value";
    for (size_t i = 0; i < d->s->n; i++)
        if (isfinite(d->s->points[i].step_ms.mid))
            return "the base was not measured";
    return "no point was measured";
}

static enum status read_all(struct figure_data *d, struct error *e)
{
    TRY(MEM_NEW(d->measured, d->s->n, "the values of a figure", e));
    TRY(quantity_measure(d->measured, d->quantity, d->s, d->run_dir, e));
    if (d->figure->model)
        TRY(prediction_make(&d->prediction, d->s, d->run_dir, e));
    TRY(series_collect(&d->series, d->s, e));
    if (d->quantity->source == SOURCE_RUNS)
        drop_compute_only(&d->series, d->s);
    count(d);
    return d->figure->shape->bars ? choose_bars(d, e) : choose_curves(d, e);
}

enum status figure_data_read(struct figure_data *d, const char *figure, const struct summary *s,
                             const char *run_dir, struct error *e)
{
    const struct figure *row = figure_get(figure);
    *d = (struct figure_data){.s = s,
                              .figure = row,
                              .run_dir = run_dir,
                              .quantity = quantity_get(row->quantity, s->spec)};
    return read_all(d, e);
}

void figure_data_free(struct figure_data *d)
{
    series_free(&d->series);
    prediction_free(&d->prediction);
    free(d->measured);
    free(d->bars);
    *d = (struct figure_data){0};
}
