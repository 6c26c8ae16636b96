/* Curves over anything: the rows of the table as series_<figure>.csv. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/figures/figures.h"

/* ---- The series file ---- */

static const char *last_word(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* inject.kind is named in full: `kind` is another column. */
const char *figure_x_column(const struct figure_data *d)
{
    size_t n;
    const struct column *columns = figures_series_columns(&n);
    const char *name = last_word(d->x.name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0)
            return strcmp(name, "ranks") == 0 ? "" : d->x.name;
    return name;
}

/* "test_acc" of test_acc_pct. */
static int stem_length(const char *name)
{
    size_t length = strlen(name), unit = strlen("_pct");
    bool ends = length > unit && strcmp(name + length - unit, "_pct") == 0;
    return (int)(ends ? length - unit : length);
}

static void write_header(FILE *out, const struct figure_data *d)
{
    fprintf(out, "curve,name,kind,point,label,ranks,status,flags");
    if (figure_x_column(d)[0])
        fprintf(out, ",%s", figure_x_column(d));
    fputs(",x,n", out);
    for (size_t k = 0; k < d->n_quantities; k++) {
        const char *name = d->quantities[k].name;
        int stem = stem_length(name);
        fprintf(out, ",%s,%.*s_lo,%.*s_hi,%.*s_published", name, stem, name, stem, name, stem,
                name);
        if (d->figure->model)
            fprintf(out, ",%.*s_model", stem, name);
    }
    fputc('\n', out);
}

/* Who says so, and of what. */
static void write_origin(FILE *out, const struct figure_data *d, const struct table_row *row)
{
    if (row->point == NO_POINT) {
        fputs(",published,,,,,", out);
        return;
    }
    const struct point_summary *p = &d->s->points[row->point];
    fprintf(out, ",%s,%s,", p->cells[COLUMN_kind], p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    figure_write_status(out, p);
}

static void write_x(FILE *out, const struct figure_data *d, double x)
{
    bool ranks = figure_x_column(d)[0] == '\0';
    if (d->table.by_name && !ranks) {
        fputc(',', out);
        text_write_field(out, d->table.names[(size_t)x - 1]);
    } else if (!ranks) {
        figure_write_number(out, x);
    }
    figure_write_number(out, x);
}

static double model_of(const struct figure_data *d, const struct table_row *row, size_t k)
{
    return row->point != NO_POINT && d->prediction.n > 0
               ? prediction_value(&d->prediction, d->s, row->point, &d->quantities[k])
               : NAN;
}

static void write_row(FILE *out, const struct figure_data *d, const struct table_row *row)
{
    size_t n = 0, curve = d->table.series[row->series].curve;
    for (size_t k = 0; k < d->n_quantities; k++)
        n = row->values[k].n > n ? row->values[k].n : n;
    fprintf(out, curve > 0 ? "%zu," : ",", curve);
    text_write_field(out, d->table.series[row->series].name);
    write_origin(out, d, row);
    write_x(out, d, row->x);
    figure_write_number(out, (double)n);
    for (size_t k = 0; k < d->n_quantities; k++) {
        const struct interval *value = &row->values[k].value;
        figure_write_number(out, value->mid);
        figure_write_number(out, value->lo);
        figure_write_number(out, value->hi);
        figure_write_number(out, row->published[k]);
        if (d->figure->model)
            figure_write_number(out, model_of(d, row, k));
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
