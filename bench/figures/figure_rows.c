/* Rows of series files: what all shapes share, and the two that show one value a point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"

void figure_write_number(FILE *out, double x)
{
    char text[TEXT_NUMBER];
    fprintf(out, ",%s", text_real(text, x));
}

void figure_write_status(FILE *out, const struct point_summary *p)
{
    fprintf(out, ",%ld,%s,%s", config_int(&p->point->config, OPT_RANKS), p->status, p->flags);
}

/* Which curve or bar, from 1; nothing where it is not drawn. */
static void write_place(FILE *out, size_t place)
{
    if (place > 0)
        fprintf(out, "%zu", place);
    fputc(',', out);
}

void figure_begin_bar(FILE *out, size_t row, const struct point_summary *p)
{
    write_place(out, row);
    fprintf(out, "%s,", p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    figure_write_status(out, p);
}

double figure_data_model(const struct figure_data *d, size_t point)
{
    return d->prediction.n > 0 ? prediction_value(&d->prediction, d->s, point, d->quantity) : NAN;
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
    if (d->figure->shape->communicating)
        return config_int(&p->point->config, OPT_STRATEGY) != STRATEGY_none;
    return d->quantity->source != SOURCE_RUNS || !p->compute_only;
}

static void write_point(FILE *out, const struct figure_data *d, size_t curve, const char *name,
                        size_t i)
{
    const struct point_summary *p = &d->s->points[i];
    const struct measured *m = &d->measured[i];
    const double numbers[] = {
        (double)m->n,           m->value.mid, m->value.lo, m->value.hi, figure_data_published(d, i),
        figure_data_model(d, i)};
    write_place(out, curve);
    text_write_field(out, name);
    fprintf(out, ",%s,", p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    figure_write_status(out, p);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        figure_write_number(out, numbers[k]);
    fputc('\n', out);
}

static const char point_header[] =
    "curve,name,point,label,ranks,status,flags,n,value,lo,hi,published,model\n";

static enum status write_over_ranks(FILE *out, struct figure_data *d, struct error *e)
{
    fputs(point_header, out);
    for (size_t k = 0; k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            write_point(out, d, k < d->curves ? k + 1 : 0, d->series.items[k].name,
                        d->series.items[k].points[i]);
    return OK;
}

static enum status write_bars(FILE *out, struct figure_data *d, struct error *e)
{
    size_t row = 0;
    fputs(point_header, out);
    for (size_t i = 0; i < d->s->n; i++)
        if (figure_data_has_bar(d, i))
            write_point(out, d, d->bars[i] ? ++row : 0, d->s->points[i].point->label, i);
    return OK;
}

const struct figure_shape shape_over_ranks = {
    .x = "ranks", .whiskers = true, .dots = true, .method = "", .write = write_over_ranks};

const struct figure_shape shape_bars = {
    .x = "point", .bars = true, .whiskers = true, .dots = true, .method = "", .write = write_bars};
