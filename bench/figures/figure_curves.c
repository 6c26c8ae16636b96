/* Curves over anything: the rows of the table as series_<figure>.csv, and what their script wants to
 * know of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_curves.h"
#include "bench/figures/figures.h"
#include "bench/figures/gnuplot.h"
#include "kernels/base/mem.h"

/* ---- The series file ---- */

static const char *last_word(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* inject.kind is named in full: `kind` is another column. */
static const char *x_name(const char *name)
{
    size_t n;
    const struct column *columns = figures_series_columns(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, last_word(name)) == 0)
            return name;
    return last_word(name);
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
    if (strcmp(last_word(d->x.name), "ranks") != 0)
        fprintf(out, ",%s", x_name(d->x.name));
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
    bool ranks = strcmp(last_word(d->x.name), "ranks") == 0;
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

/* ---- What its script wants to know ---- */

static void define_of(FILE *out, const char *list, size_t k, const char *field, double value)
{
    char name[GNUPLOT_NAME];
    gnuplot_define_number(out, gnuplot_numbered(name, list, k, field), value);
}

/* At two places at least, in one of the panels. */
static bool has_line(const struct figure_data *d, size_t series)
{
    for (size_t k = 0; k < d->n_quantities; k++) {
        const struct table_row *first = NULL;
        for (size_t i = 0; i < d->table.n; i++) {
            const struct table_row *row = &d->table.rows[i];
            bool ours = d->table.series[series].point != NO_POINT;
            if (row->series != series ||
                !isfinite(ours ? row->values[k].value.mid : row->published[k]))
                continue;
            if (first != NULL && first->x != row->x)
                return true;
            first = row;
        }
    }
    return false;
}

static void define_series(FILE *out, const struct figure_data *d)
{
    char name[GNUPLOT_NAME];
    gnuplot_define_number(out, "series_n", (double)d->curves);
    for (size_t i = 0; i < d->table.n_series; i++) {
        const struct table_series *series = &d->table.series[i];
        size_t k = series->curve;
        bool ours = series->point != NO_POINT;
        if (k == 0)
            continue;
        gnuplot_define_text(out, gnuplot_numbered(name, "series", k, "_name"), series->name);
        define_of(out, "series", k, "_bound", ours && d->s->points[series->point].compute_only);
        define_of(out, "series", k, "_published", !ours);
        define_of(out, "series", k, "_line", has_line(d, i));
    }
}

static int by_x(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What the data set calls its classes; NULL where x is something else or points differ in it. */
static const char *class_names(const struct figure_data *d)
{
    const struct data_set_row *set = NULL;
    if (!d->x.by_column || strcmp(d->x.name, "class") != 0)
        return NULL;
    for (size_t i = 0; i < d->s->n; i++) {
        const struct data_set_row *own = data_set_find(d->s->points[i].cells[COLUMN_dataset]);
        if (!d->shown[i] || d->s->points[i].cells[COLUMN_dataset][0] == '\0')
            continue;
        if (own == NULL || (set != NULL && own != set))
            return NULL;
        set = own;
    }
    return set != NULL && set->class_names[0] ? set->class_names : NULL;
}

/* The k-th of words with blanks between them. */
static void define_word(FILE *out, const char *words, size_t k, const char *name)
{
    char word[64];
    for (; k > 0 && *words; k--)
        words += strcspn(words, " ") + (strchr(words, ' ') != NULL);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(words, " "), words);
    gnuplot_define_text(out, name, word);
}

/* Ticks that have names of their own; 0: none. */
static void define_tick_names(FILE *out, const struct figure_data *d, const double *x, size_t n)
{
    char name[GNUPLOT_NAME];
    const char *words = class_names(d);
    gnuplot_define_number(out, "tick_names_n", words != NULL ? (double)n : 0);
    for (size_t i = 0; i < n && words != NULL; i++)
        define_word(out, words, (size_t)x[i], gnuplot_numbered(name, "tick", i + 1, "_name"));
}

/* Whether values of x are places beside each other, each with its tick. */
static bool are_places(const struct figure_data *d)
{
    return d->table.n_names > 0 || class_names(d) != NULL ||
           strcmp(figure_text(d->figure, FIGURE_SHAPE), "bars") == 0;
}

/* Where ticks may stand: the values of x that there are, if they are few or places. */
static enum status define_ticks(FILE *out, const struct figure_data *d, struct error *e)
{
    enum { TICKS_MAX = 24 };
    const struct figure_table *t = &d->table;
    size_t n = 0;
    double *x;
    TRY(MEM_NEW(x, t->n + 1, "the ticks of a figure", e));
    for (size_t i = 0; i < t->n; i++)
        if (has_value(d, &t->rows[i]))
            x[n++] = t->rows[i].x;
    qsort(x, n, sizeof *x, by_x);
    size_t different = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || x[i] != x[different - 1])
            x[different++] = x[i];
    gnuplot_define_number(out, "x_min", different > 0 ? x[0] : 1);
    gnuplot_define_number(out, "x_max", different > 0 ? x[different - 1] : 1);
    gnuplot_define_number(out, "x_different", (double)different);
    size_t ticks = different <= TICKS_MAX || are_places(d) ? different : 0;
    gnuplot_define_number(out, "ticks_n", (double)ticks);
    for (size_t i = 0; i < ticks; i++)
        define_of(out, "tick", i + 1, "", x[i]);
    define_tick_names(out, d, x, ticks);
    free(x);
    return OK;
}

static const struct column *x_column(const struct figure_data *d)
{
    size_t n, i = 0;
    const struct column *columns = columns_all(&n);
    while (i < n && (!d->x.by_column || strcmp(columns[i].name, d->x.name) != 0))
        i++;
    return i < n ? &columns[i] : NULL;
}

/* "epoch", "time (s)", "ranks (MPI processes)"; "case" and "run" are as they are. */
static void define_x(FILE *out, const struct figure_data *d)
{
    char title[QUANTITY_TITLE], name[GNUPLOT_NAME];
    const struct column *column = x_column(d);
    const struct spec_option *option =
        d->x.by_option ? config_option(&d->spec->config, d->x.option) : NULL;
    if (option != NULL)
        quantity_option_title(title, option);
    else if (column != NULL)
        quantity_column_title(title, column);
    else
        snprintf(title, sizeof title, "%s", d->x.name);
    gnuplot_define_text(out, "x_name", title);
    gnuplot_define_number(out, "x_option", d->x.by_option || d->x.by_case || d->x.by_run);
    gnuplot_define_number(out, "names_n", (double)d->table.n_names);
    for (size_t i = 0; i < d->table.n_names; i++)
        gnuplot_define_text(out, gnuplot_numbered(name, "name", i + 1, ""), d->table.names[i]);
}

static void define_quantities(FILE *out, const struct figure_data *d)
{
    char name[GNUPLOT_NAME];
    for (size_t k = 0; k < d->n_quantities; k++) {
        const struct quantity *q = &d->quantities[k];
        gnuplot_define_text(out, gnuplot_numbered(name, "column", k + 1, "_title"), q->title);
        define_of(out, "column", k + 1, "_most", q->most);
    }
}

enum status curves_define(FILE *out, const struct figure_data *d, struct error *e)
{
    define_series(out, d);
    define_x(out, d);
    define_quantities(out, d);
    return define_ticks(out, d, e);
}
