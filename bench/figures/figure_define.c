#include "bench/figures/figure_define.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/caption.h"
#include "bench/figures/figure_data.h"

static long ranks_of(const struct point_summary *p)
{
    return config_int(&p->point->config, OPT_RANKS);
}

/* ---- Series ---- */

/* Returns the name of a curve. Sets *point to one of the curve's points, or to NO_POINT if all
 * values of the curve are published values. */
static const char *curve_name(const struct figure_data *d, size_t curve, size_t *point)
{
    const struct series *series = &d->series.items[curve];
    const struct table_series *own = d->table.series;
    if (!d->figure->shape->any_x) {
        *point = series->points[series->n - 1];
        return series->name;
    }
    while (own->curve != curve + 1)
        own++;
    *point = own->point;
    return own->name;
}

static size_t curve_of(const struct figure_data *d, size_t point)
{
    for (size_t k = 0; k < d->curves; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            if (d->series.items[k].points[i] == point)
                return k;
    return d->curves;
}

/* Defines originK (K = k + 1): the line from the base of curve k to the curve's first point with a
 * value. The line exists only if the base is on another drawn curve, has a value, has fewer ranks
 * than that point, and is of the same kind (column `kind`). '': there is no line. */
static void define_origin(FILE *out, const struct figure_data *d, size_t k)
{
    const struct series *series = &d->series.items[k];
    size_t from = d->s->points[series->points[0]].base, first = 0, curve = curve_of(d, from);
    char text[256] = "";
    while (first + 1 < series->n && !isfinite(d->measured[series->points[first]].value.mid))
        first++;
    size_t to = series->points[first];
    double from_y = d->measured[from].value.mid, to_y = d->measured[to].value.mid;
    const struct point_summary *base = &d->s->points[from], *point = &d->s->points[to];
    if (curve != k && curve < d->curves && isfinite(from_y) && isfinite(to_y) &&
        ranks_of(base) < ranks_of(point) &&
        strcmp(base->cells[COLUMN_kind], point->cells[COLUMN_kind]) == 0)
        snprintf(text, sizeof text, "%zu %ld %.17g %.17g %ld %.17g %.17g", curve + 1,
                 ranks_of(base), from_y, figure_data_model(d, d->quantity, from), ranks_of(point),
                 to_y, figure_data_model(d, d->quantity, to));
    gnuplot_define_text_of(out, "origin", k + 1, "", text);
}

/* Writes gnuplot variables. originK: line from the base of curve K to the curve's first point;
 * empty if there is no line. ideal_slopes, ideal_times: slope (cores per rank / base's cores) and
 * base step time (ms) of each distinct line of ideal scaling. */
static void define_bases(FILE *out, const struct figure_data *d)
{
    size_t n = 0;
    double slopes[FIGURE_CURVES_MAX], times[FIGURE_CURVES_MAX];
    for (size_t k = 0; k < d->curves; k++) {
        const struct series *series = &d->series.items[k];
        const struct point_summary *p = &d->s->points[series->points[series->n - 1]];
        const struct point_summary *base = &d->s->points[p->base];
        size_t same = 0;
        slopes[n] = (double)p->cores / (double)ranks_of(p) / base->cores;
        times[n] = base->step_ms.mid;
        while (same < n && (slopes[same] != slopes[n] || times[same] != times[n]))
            same++;
        n += same == n && isfinite(times[n]);
    }
    gnuplot_define_numbers(out, "ideal_slopes", slopes, n);
    gnuplot_define_numbers(out, "ideal_times", times, n);
    for (size_t k = 0; k < d->curves; k++)
        define_origin(out, d, k);
}

/* ---- x ---- */

/* Returns the class names of the shown points' data set, ignoring points without a data set. "" if
 * x is not column `class`, or if the data sets differ or are unknown. */
static const char *class_names(const struct figure_data *d)
{
    const struct data_set_row *set = NULL;
    if (!d->x.by_column || strcmp(d->x.name, "class") != 0)
        return "";
    for (size_t i = 0; i < d->s->n; i++) {
        const struct data_set_row *own = data_set_find(d->s->points[i].cells[COLUMN_dataset]);
        if (!d->shown[i] || d->s->points[i].cells[COLUMN_dataset][0] == '\0')
            continue;
        if (own == NULL || (set != NULL && own != set))
            return "";
        set = own;
    }
    return set != NULL ? set->class_names : "";
}

/* Writes the title of the x axis, such as "epoch", "time (s)" or "ranks (MPI processes)". The names
 * "case" and "run" are used unchanged. */
static void title_x(char title[QUANTITY_TITLE], const struct figure_data *d)
{
    if (d->x.by_option)
        quantity_option_title(title, config_option(&d->spec->config, d->x.option));
    else if (d->x.by_column)
        quantity_column_title(title, d->x.column);
    else
        snprintf(title, QUANTITY_TITLE, "%s", d->x.name);
}

static void define_x(FILE *out, const struct figure_data *d)
{
    char title[QUANTITY_TITLE];
    title_x(title, d);
    gnuplot_define_text(out, "x_name", title);
    gnuplot_define_number(out, "x_option", !d->x.by_column);
    gnuplot_define_text(out, "class_names", class_names(d));
    gnuplot_define_number(out, "names_n", (double)d->table.n_names);
    for (size_t i = 0; i < d->table.n_names; i++)
        gnuplot_define_text_of(out, "name", i + 1, "", d->table.names[i]);
}

/* ---- All definitions ---- */

/* Writes gnuplot variables: the name of each curve, and `bounds`, the numbers (from 1) of the
 * curves without communication. The values of these curves are bounds for all other curves. */
static void define_curves(FILE *out, const struct figure_data *d)
{
    double bounds[FIGURE_CURVES_MAX];
    size_t n = 0;
    for (size_t k = 0; k < d->curves; k++) {
        size_t point;
        gnuplot_define_text_of(out, "series", k + 1, "_name", curve_name(d, k, &point));
        if (point != NO_POINT && d->s->points[point].compute_only)
            bounds[n++] = (double)k + 1;
    }
    gnuplot_define_numbers(out, "bounds", bounds, n);
}

/* Returns the legend text for published values: the source's name if there is one source and it has
 * a name, otherwise "published". */
static const char *published_name(const struct figure_data *d)
{
    const struct figure_request *r = d->figure->request;
    const char *name = r->n_sources == 1 ? r->sources[0].options[PUBLISHED_NAME].text : "";
    return name[0] ? name : "published";
}

/* Returns whether the quantity is efficiency or the Karp-Flatt metric. Points whose ranks share
 * cores have neither, because such points do not show how a program scales. */
static bool is_of_scaling(const struct quantity *quantity)
{
    return quantity->relation == RELATION_EFFICIENCY || quantity->column == COLUMN_karp_flatt;
}

/* Defines the figure's texts for gnuplot: the caption that option `caption` requests, and the text
 * about missing points. Also defines caption_share, the largest share of the picture's height that
 * the caption may take. */
static enum status define_texts(FILE *out, const struct figure_data *d, struct error *e)
{
    long wanted = config_int(&d->s->spec->config, OPT_CAPTION);
    char *caption = NULL, *missing = NULL;
    enum status status =
        wanted == CAPTION_none ? OK : caption_make(&caption, d, wanted == CAPTION_full, e);
    if (!d->figure->shape->any_x && !d->figure->shape->bars)
        THEN(status, missing_make(&missing, d, e));
    gnuplot_define_text(out, "caption", caption != NULL ? caption : "");
    gnuplot_define_text(out, "missing", missing != NULL ? missing : "");
    gnuplot_define_number(out, "caption_share", wanted == CAPTION_short ? 0.15 : 1);
    free(caption);
    free(missing);
    return status;
}

static void define_files(FILE *out, const struct figure_data *d, const struct pictures *pictures)
{
    char path[4500];
    const struct stage *stage = pictures->stage;
    gnuplot_define_text(out, "plots", pictures->plots_dir);
    snprintf(path, sizeof path, "%s/series_%s.csv", stage->dir, d->figure->name);
    gnuplot_define_text(out, "data", path);
    snprintf(path, sizeof path, "%s/dots_%s.csv", stage->dir, d->figure->name);
    gnuplot_define_text(out, "dots_data", dots_exist(d) ? path : "");
    snprintf(path, sizeof path, "%s/%s", stage->dir, d->figure->name);
    gnuplot_define_text(out, "out", path);
}

/* Writes definitions for gnuplot: the figure's options and the names of its columns. A sum such as
 * "forward_ms+backward_ms" is written without blanks, as in the series file. */
static void define_options(FILE *out, const struct figure_data *d)
{
    const char *title = figure_text(d->figure, FIGURE_TITLE);
    gnuplot_define_text(out, "title", title[0] ? title : spec_title_of_set(d->s->spec));
    gnuplot_define_text(out, "size", figure_text(d->figure, FIGURE_SIZE));
    gnuplot_define_text(out, "shape_of", figure_text(d->figure, FIGURE_SHAPE));
    gnuplot_define_text(out, "x_scale", figure_text(d->figure, FIGURE_X_SCALE));
    gnuplot_define_text(out, "y_scale", figure_text(d->figure, FIGURE_Y_SCALE));
    fputs("columns='", out);
    for (size_t i = 0; figure_column(d->figure, i) != NULL; i++) {
        fputs(i > 0 ? " " : "", out);
        for (const char *c = figure_column(d->figure, i); *c; c++)
            if (*c != ' ')
                fputc(*c, out);
    }
    fputs("'; ", out);
}

static void define_names(FILE *out, const struct figure_data *d)
{
    char name[64];
    gnuplot_define_text(out, "published_name", published_name(d));
    gnuplot_define_number(out, "has_model", d->figure->model || d->figure->law != NULL);
    gnuplot_define_text(out, "model_name", d->figure->law != NULL ? "fitted law" : "model");
    gnuplot_define_text(out, "withheld", is_of_scaling(d->quantity) ? "oversubscribed" : "");
    gnuplot_define_text(out, "dots_name",
                        d->quantity->source == SOURCE_RUNS ? "single runs" : "single launches");
    for (size_t k = 0; k < d->n_quantities; k++) {
        const struct quantity *q = &d->quantities[k];
        gnuplot_define_text_of(out, "column", k + 1, "_title", q->title);
        snprintf(name, sizeof name, "column%zu_most", k + 1);
        gnuplot_define_number(out, name, q->most);
    }
}

enum status figure_define(FILE *out, const void *figure, const struct pictures *pictures,
                          struct error *e)
{
    const struct figure_data *d = figure;
    const char *lack = figure_data_lack(d);
    define_files(out, d, pictures);
    gnuplot_define_text(out, "scaling", config_text(&d->s->spec->config, OPT_SCALING));
    gnuplot_define_text(out, "nothing", lack != NULL ? lack : "");
    define_options(out, d);
    define_names(out, d);
    define_curves(out, d);
    if (d->figure->shape->any_x)
        define_x(out, d);
    else
        define_bases(out, d);
    spread_define(out, &d->spread);
    return define_texts(out, d, e);
}
