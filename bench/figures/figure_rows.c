/* Writes the rows of series_<figure>.csv and dots_<figure>.csv for figures with curves or plain
 * bars. Defines shape_over_ranks, shape_bars and shape_curves (struct figure_shape). */
#include <math.h>
#include <string.h>

#include "bench/base/scaling_laws.h"
#include "bench/collect/fits.h"
#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/figures/figures.h"
#include "bench/figures/launches.h"

static const struct figure_shape *const shapes[] = {
#define FIGURE(name, summary, wants, shape, script, preset) &shape_##shape,
#include "bench/spec/figures/figures.def"
};

struct figure figure_of(const struct figure_request *request)
{
    int law = (int)request->options[FIGURE_LAW].number;
    return (struct figure){.name = figure_request_name(request),
                           .script = figure_kind_get(request)->script,
                           .shape = shapes[(int)request->options[FIGURE_KIND].number],
                           .request = request,
                           .model = request->options[FIGURE_MODEL].number != 0,
                           .law = law > 0 ? request->options[FIGURE_LAW].text : NULL,
                           .published = request->published};
}

const char *figure_column(const struct figure *figure, size_t i)
{
    const struct value *y = &figure->request->options[FIGURE_Y];
    return i < y->n ? y->texts[i] : NULL;
}

/* ---- Parts of rows ---- */

void figure_write_number(FILE *out, double x)
{
    char text[TEXT_NUMBER];
    fprintf(out, ",%s", text_real(text, x));
}

/* Writes the number of a curve or bar, from 1, and a comma. Writes only the comma if the curve or
 * bar is not drawn. */
static void write_place(FILE *out, size_t place)
{
    if (place > 0)
        fprintf(out, "%zu", place);
    fputc(',', out);
}

/* Writes the identity, label and ranks of a point: "8c8931e2be90,ranks=2 allreduce,2". */
static void write_identity(FILE *out, const struct point_summary *p)
{
    fprintf(out, "%s,", p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    fprintf(out, ",%ld", config_int(&p->point->config, OPT_RANKS));
}

static void begin_row(FILE *out, size_t curve, const char *name)
{
    write_place(out, curve);
    text_write_field(out, name);
    fputc(',', out);
}

static void write_status(FILE *out, const struct point_summary *p)
{
    fprintf(out, ",%s,%s", p->status, p->flags);
}

void figure_begin_bar(FILE *out, size_t row, const struct point_summary *p)
{
    write_place(out, row);
    write_identity(out, p);
    write_status(out, p);
}

/* Returns the prediction for a point by the law fitted to its curve; NAN: no law was fitted, or the
 * quantity is not a ratio to the base. */
static double law_value(const struct figure_data *d, const struct quantity *q, size_t point)
{
    const struct fits_row *fitted = fits_find(d->s, point, d->figure->law);
    const struct point_summary *own = &d->s->points[point], *base = &d->s->points[own->base];
    if (fitted == NULL || !relation_is_ratio(q->relation))
        return NAN;
    int law = (int)d->figure->request->options[FIGURE_LAW].number - 1;
    const struct scaling_fit fit = {.sigma = fitted->sigma, .kappa = fitted->kappa};
    double p = own->cores / base->cores, speedup = scaling_speedup((enum scaling_law)law, &fit, p);
    return q->relation == RELATION_EFFICIENCY ? 100 * speedup / p : speedup;
}

double figure_data_model(const struct figure_data *d, const struct quantity *q, size_t point)
{
    if (d->figure->law != NULL)
        return point != NO_POINT ? law_value(d, q, point) : NAN;
    return point != NO_POINT && d->prediction.n > 0
               ? prediction_value(&d->prediction, d->s, point, q)
               : NAN;
}

double figure_data_published(const struct figure_data *d, size_t point)
{
    return d->figure->published ? quantity_published(d->quantity, d->s, point) : NAN;
}

bool figure_data_has_bar(const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    if (!d->shown[point])
        return false;
    enum option_id only = d->figure->shape->only;
    if (only != 0)
        return config_int(&p->point->config, only) != 0;
    return d->quantity->source != SOURCE_RUNS || !p->compute_only;
}

/* ---- One value per point ---- */

/* Writes the rows of one point. curve, name: number and name of the point's curve or bar. Numbers
 * start at 1; 0: not drawn. l: launches of all runs; NULL: not needed. */
typedef void write_point(FILE *out, const struct figure_data *d, size_t curve, const char *name,
                         size_t point, const struct launches *l);

static void write_points(FILE *out, const struct figure_data *d, write_point *write,
                         const struct launches *l)
{
    size_t row = 0;
    for (size_t i = 0; d->figure->shape->bars && i < d->s->n; i++)
        if (figure_data_has_bar(d, i))
            write(out, d, d->bars[i] ? ++row : 0, d->s->points[i].point->label, i, l);
    for (size_t k = 0; !d->figure->shape->bars && k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            write(out, d, k < d->curves ? k + 1 : 0, d->series.items[k].name,
                  d->series.items[k].points[i], l);
}

static void write_value(FILE *out, const struct figure_data *d, size_t curve, const char *name,
                        size_t i, const struct launches *l)
{
    const struct measured *m = &d->measured[i];
    const double numbers[] = {(double)m->n,
                              m->value.mid,
                              m->value.lo,
                              m->value.hi,
                              figure_data_published(d, i),
                              figure_data_model(d, d->quantity, i)};
    begin_row(out, curve, name);
    write_identity(out, &d->s->points[i]);
    write_status(out, &d->s->points[i]);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        figure_write_number(out, numbers[k]);
    fputc('\n', out);
}

static enum status write_values(FILE *out, struct figure_data *d, struct error *e)
{
    fputs("curve,name,point,label,ranks,status,flags,n,value,lo,hi,published,model\n", out);
    write_points(out, d, write_value, NULL);
    return OK;
}

const struct figure_shape shape_over_ranks = {
    .x = "ranks", .whiskers = true, .dots = true, .method = "", .write = write_values};

const struct figure_shape shape_bars = {.x = "point",
                                        .bars = true,
                                        .whiskers = true,
                                        .dots = true,
                                        .method = "",
                                        .write = write_values};

/* ---- Curves over any x ---- */

/* Returns the name of the x column: the part of d->x.name after the last dot, or all of d->x.name
 * if that part already names a column. Returns "" if x is ranks, since every series file has a
 * column `ranks`. */
static const char *x_column(const struct figure_data *d)
{
    const char *name = key_end(d->x.name);
    for (size_t i = 0; i < figures_series.n; i++)
        if (strcmp(figures_series.columns[i].name, name) == 0)
            return strcmp(name, "ranks") == 0 ? "" : d->x.name;
    return name;
}

/* Returns the length of a column's name without the ending "_pct". Names of related columns begin
 * with this stem: test_acc_lo for test_acc_pct. */
static int stem_length(const char *name)
{
    return (int)(strlen(name) - (text_ends(name, "_pct") ? strlen("_pct") : 0));
}

static void write_header(FILE *out, const struct figure_data *d)
{
    fprintf(out, "curve,name,kind,point,label,ranks,status,flags");
    if (x_column(d)[0])
        fprintf(out, ",%s", x_column(d));
    fputs(",x,n", out);
    for (size_t k = 0; k < d->n_quantities; k++) {
        const char *name = d->quantities[k].name;
        int stem = stem_length(name);
        fprintf(out, ",%s,%.*s_lo,%.*s_hi,%.*s_published", name, stem, name, stem, name, stem,
                name);
        if (d->figure->model || d->figure->law != NULL)
            fprintf(out, ",%.*s_model", stem, name);
    }
    fputc('\n', out);
}

/* Writes kind, point and status of a row. A row without a point gets kind "published" and otherwise
 * empty fields. */
static void write_origin(FILE *out, const struct figure_data *d, const struct table_row *row)
{
    if (row->point == NO_POINT) {
        fputs("published,,,,,", out);
        return;
    }
    const struct point_summary *p = &d->s->points[row->point];
    fprintf(out, "%s,", p->cells[COLUMN_kind]);
    write_identity(out, p);
    write_status(out, p);
}

static void write_x(FILE *out, const struct figure_data *d, double x)
{
    bool ranks = x_column(d)[0] == '\0';
    if (d->table.by_name && !ranks) {
        fputc(',', out);
        text_write_field(out, d->table.names[(size_t)x - 1]);
    } else if (!ranks) {
        figure_write_number(out, x);
    }
    figure_write_number(out, x);
}

static void write_row(FILE *out, const struct figure_data *d, const struct table_row *row)
{
    size_t n = 0, curve = d->table.series[row->series].curve;
    for (size_t k = 0; k < d->n_quantities; k++)
        n = row->values[k].n > n ? row->values[k].n : n;
    begin_row(out, curve, d->table.series[row->series].name);
    write_origin(out, d, row);
    write_x(out, d, row->x);
    figure_write_number(out, (double)n);
    for (size_t k = 0; k < d->n_quantities; k++) {
        const struct interval *value = &row->values[k].value;
        figure_write_number(out, value->mid);
        figure_write_number(out, value->lo);
        figure_write_number(out, value->hi);
        figure_write_number(out, row->published[k]);
        if (d->figure->model || d->figure->law != NULL)
            figure_write_number(out, figure_data_model(d, &d->quantities[k], row->point));
    }
    fputc('\n', out);
}

static bool has_value(const struct figure_data *d, const struct table_row *row)
{
    for (size_t k = 0; k < d->n_quantities; k++)
        if (isfinite(row->values[k].value.mid) || isfinite(row->published[k]))
            return true;
    return false;
}

static enum status write_curves(FILE *out, struct figure_data *d, struct error *e)
{
    write_header(out, d);
    for (size_t i = 0; i < d->table.n; i++)
        if (has_value(d, &d->table.rows[i]))
            write_row(out, d, &d->table.rows[i]);
    return OK;
}

const struct figure_shape shape_curves = {
    .whiskers = true, .any_x = true, .method = "", .write = write_curves};

/* ---- Launches behind values ---- */

bool dots_exist(const struct figure_data *d)
{
    return d->figure->shape->any_x ? d->table.n_dots > 0
                                   : d->figure->shape->dots && launches_have(d->quantity);
}

/* Writes one row for each launch of the point and of the points that repeat it, except launches
 * without a value. Writes no row if the figure has no value for the point (d->measured). */
static void write_launches(FILE *out, const struct figure_data *d, size_t curve, const char *name,
                           size_t point, const struct launches *l)
{
    size_t n, all = 0, nth = 0, last = d->repeats ? d->s->n : point + 1;
    if (!isfinite(d->measured[point].value.mid))
        return;
    for (size_t k = point; k < last; k++) /* counts launches of the point itself and of points that
                                             repeat it */
        all += d->stands_for[k] == point && launches_of(l, k, &n) != NULL ? n : 0;
    for (size_t k = point; k < last; k++) {
        const struct launch_row *launches = launches_of(l, k, &n);
        for (size_t i = 0; i < n && d->stands_for[k] == point; i++) {
            double value = launches_value(l, k, &launches[i]);
            nth++;
            if (!isfinite(value))
                continue;
            begin_row(out, curve, name);
            write_identity(out, &d->s->points[k]);
            figure_write_number(out, launches[i].block);
            figure_write_number(out, launches_seed(l, k, &launches[i]));
            fprintf(out, ",%zu,%zu", nth, all);
            figure_write_number(out, value);
            fputc('\n', out);
        }
    }
}

static enum status write_point_dots(FILE *out, const struct figure_data *d, struct error *e)
{
    struct launches *l = NULL;
    enum status status = launches_read(&l, d, d->quantity, e);
    fputs("curve,name,point,label,ranks,block,seed,nth,n,value\n", out);
    if (status == OK)
        write_points(out, d, write_launches, l);
    launches_free(l);
    return status;
}

static void write_row_dots(FILE *out, const struct figure_data *d, const struct table_row *row,
                           size_t k)
{
    const struct table_series *series = &d->table.series[row->series];
    const struct table_dots *dots = &row->dots[k];
    for (size_t i = 0; i < dots->n; i++) {
        begin_row(out, series->curve, series->name);
        write_identity(out, &d->s->points[row->point]);
        figure_write_number(out, row->x);
        fprintf(out, ",%s,%zu,%zu", d->quantities[k].name, i + 1, dots->n);
        figure_write_number(out, d->table.dots[dots->first + i]);
        fputc('\n', out);
    }
}

enum status dots_write(FILE *out, void *figure_data, struct error *e)
{
    const struct figure_data *d = figure_data;
    if (!d->figure->shape->any_x)
        return write_point_dots(out, d, e);
    fputs("curve,name,point,label,ranks,x,y,nth,n,value\n", out);
    for (size_t i = 0; i < d->table.n; i++)
        for (size_t k = 0; k < d->n_quantities; k++)
            write_row_dots(out, d, &d->table.rows[i], k);
    return OK;
}
