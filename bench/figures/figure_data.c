#include "bench/figures/figure_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

static bool is_valued(const struct figure_data *d, size_t point)
{
    return isfinite(d->measured[point].value.mid) || isfinite(figure_data_published(d, point));
}

/* Removes from d->series the points that are not shown, and empty series. In figures of accuracy,
 * also removes points without communication, which have no accuracy runs, and shortens "compute
 * only (none)" to "none" in names of series that lose points. */
static void drop_points(struct figure_data *d)
{
    struct series_list *list = &d->series;
    const struct summary *s = d->s;
    bool runs = d->quantity->source == SOURCE_RUNS;
    size_t kept = 0;
    for (size_t k = 0; k < list->n; k++) {
        struct series *series = &list->items[k];
        size_t n = series->n;
        series->n = 0;
        for (size_t i = 0; i < n; i++)
            if (d->shown[series->points[i]] && !(runs && s->points[series->points[i]].compute_only))
                series->points[series->n++] = series->points[i];
        if (series->n == 0) {
            free(series->points);
            continue;
        }
        char *lead = strstr(series->name, "compute only (none)");
        if (runs && series->n < n && lead != NULL)
            memmove(lead, "none", 4), memmove(lead + 4, lead + 19, strlen(lead + 19) + 1);
        list->items[kept++] = *series;
    }
    list->n = kept;
}

/* Returns whether an earlier series has a point with the same number of ranks and the same
 * published value as `point`. */
static bool is_repeated(const struct figure_data *d, size_t series, size_t point)
{
    double own = figure_data_published(d, point);
    long ranks = config_int(&d->s->points[point].point->config, OPT_RANKS);
    for (size_t k = 0; k < series; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++) {
            size_t other = d->series.items[k].points[i];
            if (config_int(&d->s->points[other].point->config, OPT_RANKS) == ranks &&
                figure_data_published(d, other) == own)
                return true;
        }
    return false;
}

/* Returns whether a series has a measured value, or a published value that no earlier series
 * has. */
static bool is_drawn(const struct figure_data *d, size_t series)
{
    const struct series *own = &d->series.items[series];
    for (size_t i = 0; i < own->n; i++)
        if (isfinite(d->measured[own->points[i]].value.mid) ||
            (is_valued(d, own->points[i]) && !is_repeated(d, series, own->points[i])))
            return true;
    return false;
}

/* Moves the first FIGURE_CURVES_MAX series for which is_drawn is true to the front. If no series
 * has a value, the first FIGURE_CURVES_MAX series are drawn, so that the legend lists them. */
static enum status choose_curves(struct figure_data *d, struct error *e)
{
    struct series_list *list = &d->series;
    struct series *items;
    size_t rest = list->n;
    bool any = figure_data_lack(d) == NULL;
    TRY(MEM_NEW(items, 2 * list->n, "the curves of a figure", e));
    for (size_t k = 0; k < list->n; k++) {
        bool drawn = !any || is_drawn(d, k), fits = d->curves < FIGURE_CURVES_MAX;
        d->left_out += drawn && !fits;
        items[drawn && fits ? d->curves++ : rest++] = list->items[k];
    }
    memcpy(items + d->curves, items + list->n, (rest - list->n) * sizeof *items);
    free(list->items);
    list->items = items;
    return OK;
}

/* Chooses the bars to draw. If at most FIGURE_BARS_MAX points can have a bar, each of them gets
 * one, even without a value. Otherwise only points with a value get a bar: the first
 * FIGURE_BARS_MAX of them. */
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

static void count(struct figure_data *d)
{
    for (size_t i = 0; i < d->s->n; i++) {
        if (d->figure->shape->bars ? !figure_data_has_bar(d, i) : d->series_of[i] == NO_POINT)
            continue;
        d->values += isfinite(d->measured[i].value.mid);
        d->published += isfinite(figure_data_published(d, i));
    }
}

bool figure_data_misses(const struct figure_data *d, size_t point)
{
    return d->shown[point] && !isfinite(d->measured[point].value.mid) &&
           d->s->points[point].outcome != POINT_ok;
}

const struct point_summary *figure_data_lacking_base(const struct figure_data *d)
{
    const struct point_summary *points = d->s->points;
    for (size_t i = 0; i < d->s->n; i++)
        if (isfinite(points[i].step_ms.mid) && !isfinite(points[points[i].base].step_ms.mid))
            return &points[points[i].base];
    return NULL;
}

static bool has_time(const struct point_summary *p)
{
    return isfinite(p->step_ms.mid);
}

const char *figure_data_lack(const struct figure_data *d)
{
    if (d->values + d->published > 0)
        return NULL;
    if (d->quantity->source == SOURCE_RUNS)
        return "no accuracy run has a value";
    if (d->quantity->source == SOURCE_TIMED)
        return "no timed launch has a value";
    if (figure_data_lacking_base(d) != NULL)
        return "the base was not measured";
    return summary_count(d->s, has_time) > 0 ? "no point has a value" : "no point was measured";
}

/* ---- Curves over anything ---- */

static void count_row(struct figure_data *d, const struct table_row *row)
{
    for (size_t k = 0; k < d->n_quantities; k++) {
        bool value = isfinite(row->values[k].value.mid), published = isfinite(row->published[k]);
        d->values += value;
        d->published += published;
        d->table.series[row->series].valued |= value || published;
    }
}

static void count_rows(struct figure_data *d)
{
    for (size_t i = 0; i < d->table.n; i++)
        count_row(d, &d->table.rows[i]);
    for (size_t k = 0; k < d->table.n_series; k++) {
        struct table_series *series = &d->table.series[k];
        series->curve = series->valued && d->curves < FIGURE_CURVES_MAX ? ++d->curves : 0;
        d->left_out += series->valued;
    }
    d->left_out -= d->curves;
}

/* Returns whether every quantity comes from a file whose rows belong to no point. Such a file, for
 * example layers.csv, describes networks. */
bool figure_is_of_networks(const struct figure_data *d)
{
    for (size_t k = 0; k < d->n_quantities; k++) {
        const char *file = d->quantities[k].file;
        if (file == NULL || column_of_file(file, "point") != NULL)
            return false;
    }
    return true;
}

static bool is_listed(const struct series_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

/* Makes one series per point. A figure of networks has one series per network, even if several
 * points train it. */
static enum status series_a_point(struct series_list *list, const struct figure_data *d,
                                  struct error *e)
{
    const struct summary *s = d->s;
    bool networks = figure_is_of_networks(d);
    TRY(MEM_NEW(list->items, s->n, "the series of a figure", e));
    for (size_t i = 0; i < s->n; i++) {
        const struct point *point = s->points[i].point;
        const char *name = networks && point->net != NULL ? point->net->net.name : point->label;
        if (networks && (!d->shown[i] || is_listed(list, name)))
            continue;
        struct series *series = &list->items[list->n++];
        TRY(MEM_NEW(series->points, 1, "the series of a figure", e));
        *series->points = i;
        series->n = 1;
        snprintf(series->name, sizeof series->name, "%s", name);
    }
    return OK;
}

/* Makes one series per point (in a figure of networks, per network) if x is a column, and `series`
 * is empty or names `point`. Otherwise groups points by the options that `series` names, and by
 * case if it names `case`. Default: by case and by all options, except x and options that vary with
 * x. */
static enum status collect_series(struct figure_data *d, struct error *e)
{
    const struct value *wanted = &d->figure->request->options[FIGURE_SERIES];
    enum option_id options[OPTION_COUNT];
    bool over_names = d->x.by_case || d->x.by_run;
    struct series_by by = {.shown = d->shown,
                           .cases = !d->x.by_case && wanted->n == 0,
                           .over_runs = d->x.by_run,
                           .trained = d->quantity->source == SOURCE_RUNS,
                           .x = d->x.by_option ? d->x.option
                                : over_names   ? OPTION_COUNT
                                               : OPT_RANKS,
                           .only = wanted->n > 0,
                           .options = options};
    if (d->x.by_column &&
        (wanted->n == 0 ||
         name_index(FIGURE_POINT, (const char *const *)wanted->texts, wanted->n) >= 0))
        return series_a_point(&d->series, d, e);
    for (size_t i = 0; i < wanted->n; i++) {
        const struct spec_option *option = config_option_find(&d->spec->config, wanted->texts[i]);
        by.cases = by.cases || strcmp(wanted->texts[i], FIGURE_CASE) == 0;
        if (option != NULL && by.n_options < OPTION_COUNT)
            options[by.n_options++] = option->id;
    }
    return series_collect_by(&d->series, d->s, &by, e);
}

/* ---- Points and bases ---- */

static bool runs_are_named(const struct summary *s)
{
    return s->n > 0 && s->points[0].run != NULL;
}

/* Sets d->shown: a point is shown unless `where` excludes the point. Calibration points, which only
 * provide compute times for replayed points, are also hidden unless `where` uses option compute. */
static void choose_shown(struct figure_data *d)
{
    bool calibrations = figure_where_names(d, option_get(OPT_COMPUTE)->key);
    for (size_t i = 0; i < d->s->n; i++) {
        const struct point_summary *p = &d->s->points[i];
        bool allowed = d->where == NULL ||
                       condition_unknown(d->where, figure_point_value, p) != NULL ||
                       condition_holds(d->where, figure_point_value, p);
        d->shown[i] = allowed && (calibrations || !config_calibrates(&p->point->config));
    }
}

static enum status find_points(struct figure_data *d, struct error *e)
{
    TRY(MEM_NEW(d->shown, d->s->n, "the points of a figure", e));
    choose_shown(d);
    TRY(collect_series(d, e));
    drop_points(d);
    TRY(figure_settle_places(d, e));
    TRY(MEM_NEW(d->series_of, d->s->n, "the series of a figure", e));
    for (size_t i = 0; i < d->s->n; i++)
        d->series_of[i] = NO_POINT;
    for (size_t k = 0; k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            d->series_of[d->series.items[k].points[i]] = k;
    return OK;
}

/* Returns whether `where` can be evaluated before a run: it uses only options, `case` and, in a
 * figure of several runs, `run`. */
static bool knows_points(const struct figure_data *d)
{
    size_t n = 0;
    const struct condition_term *terms = d->where != NULL ? condition_terms(d->where, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (config_option_find(&d->spec->config, terms[i].name) == NULL &&
            !figure_is_of_points(d, terms[i].name))
            return false;
    return true;
}

/* Returns whether the spec file alone determines the figure and its points. The figure must be in
 * this file, --set may change only figures, and neither `ranks` nor `nodes` may come from the
 * machine or option `quick`. False for recorded specs and for figures of several runs. */
static bool is_settled(const struct figure_data *d)
{
    const struct spec *spec = d->spec;
    const struct mark mark = d->figure->request->mark;
    return spec->config.values[OPT_FIGURES].set && !d->several && !spec->is_recorded &&
           !mark_from_set(mark) && strcmp(mark.file, spec->path) == 0 &&
           spec_set_beyond_figures(spec) == NULL && !spec_option_is_open(spec, OPT_RANKS) &&
           !spec_option_is_open(spec, OPT_NODES);
}

static bool is_relative(const struct figure_data *d)
{
    const struct value *file = &d->spec->config.values[OPT_PUBLISHED_FILE];
    return d->n_quantities == 1 && value_is_preset(option_get(OPT_PUBLISHED_FILE), file) &&
           relation_is_ratio(d->quantity->relation);
}

/* Rejects a figure of speed-up or efficiency if every shown point is its own base, since the ratio
 * is then always 1. The check applies only if the spec file alone determines the figure and its
 * points (is_settled). */
static enum status check_bases(const struct figure_data *d, struct error *e)
{
    const struct spec *spec = d->spec;
    size_t compared = 0;
    for (size_t i = 0; i < spec->n_points; i++)
        compared += d->shown[i] && spec->points[i].base_index != i;
    if (compared > 0 || !is_relative(d) || !is_settled(d))
        return OK;
    return mark_error(e, ERR_SPEC, d->figure->request->mark,
                      "figures: %s is 1 at every point, because each point is compared with "
                      "itself. Add points with more ranks, set baseline, or leave the figure out",
                      d->quantity->name);
}

enum status figure_check(const struct figure_request *request, const struct summary *s,
                         struct error *e)
{
    struct figure_data d;
    enum status status = figure_resolve(&d, request, s->spec, runs_are_named(s), e);
    d.s = s;
    if (status == OK && knows_points(&d))
        status = find_points(&d, e);
    if (d.shown != NULL)
        THEN(status, check_bases(&d, e));
    figure_data_free(&d);
    return status;
}

static enum status read_points(struct figure_data *d, struct error *e)
{
    TRY(d->quantity->file != NULL ? table_measure(d, e) : figure_measure_points(d, d->quantity, e));
    TRY(figure_join_repetitions(d, e));
    count(d);
    return d->figure->shape->bars ? choose_bars(d, e) : choose_curves(d, e);
}

static enum status read_all(struct figure_data *d, struct error *e)
{
    TRY(MEM_NEW(d->measured, d->s->n, "the values of a figure", e));
    TRY(find_points(d, e));
    if (d->figure->model && d->n_runs == 1)
        TRY(prediction_make(&d->prediction, d->s, d->runs[0].dir, e));
    if (!d->figure->shape->any_x)
        return read_points(d, e);
    TRY(table_read(d, e));
    count_rows(d);
    return OK;
}

enum status figure_data_read(struct figure_data *d, const struct figure_request *request,
                             const struct summary *s, const struct figure_run *runs, size_t n_runs,
                             struct error *e)
{
    TRY(figure_resolve(d, request, s->spec, runs_are_named(s), e));
    d->s = s;
    d->runs = runs;
    d->n_runs = n_runs;
    TRY(read_all(d, e));
    return spread_find(&d->spread, d, e);
}

void figure_data_free(struct figure_data *d)
{
    series_free(&d->series);
    prediction_free(&d->prediction);
    condition_free(d->where);
    table_free(&d->table);
    spread_free(&d->spread);
    free(d->shown);
    free(d->stands_for);
    free(d->series_of);
    free(d->measured);
    free(d->bars);
    *d = (struct figure_data){0};
}
