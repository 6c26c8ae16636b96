#include "bench/figures/dots.h"

#include <math.h>

#include "bench/collect/summary.h"
#include "bench/figures/launches.h"

bool dots_exist(const struct figure_data *d)
{
    return d->figure->shape->any_x ? d->table.n_dots > 0
                                   : d->figure->shape->dots && launches_have(d->quantity);
}

/* "1,allreduce,8c8931e2be90,ranks=2 allreduce,2" */
static void begin_dot(FILE *out, size_t curve, const char *name, const struct point_summary *p)
{
    fprintf(out, curve > 0 ? "%zu," : ",", curve);
    text_write_field(out, name);
    fprintf(out, ",%s,", p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    fprintf(out, ",%ld", config_int(&p->point->config, OPT_RANKS));
}

/* ---- Of points ---- */

/* Nothing of a point without a value: what was withheld there is not shown here. */
static void write_point(FILE *out, const struct figure_data *d, const struct launches *l,
                        size_t curve, const char *name, size_t point)
{
    size_t n, all = 0, nth = 0, last = d->repeats ? d->s->n : point + 1;
    if (!isfinite(d->measured[point].value.mid))
        return;
    for (size_t k = point; k < last; k++) /* itself, and what repeats it */
        all += d->stands_for[k] == point && launches_of(l, k, &n) != NULL ? n : 0;
    for (size_t k = point; k < last; k++) {
        const struct launch_value *launches = launches_of(l, k, &n);
        for (size_t i = 0; i < n && d->stands_for[k] == point; i++) {
            double value = launches_value(l, k, &launches[i]);
            nth++;
            if (!isfinite(value))
                continue;
            begin_dot(out, curve, name, &d->s->points[k]);
            figure_write_number(out, launches[i].block);
            figure_write_number(out, launches[i].seed);
            fprintf(out, ",%zu,%zu", nth, all);
            figure_write_number(out, value);
            fputc('\n', out);
        }
    }
}

static void write_series(FILE *out, const struct figure_data *d, const struct launches *l)
{
    for (size_t k = 0; k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            write_point(out, d, l, k < d->curves ? k + 1 : 0, d->series.items[k].name,
                        d->series.items[k].points[i]);
}

static void write_bars(FILE *out, const struct figure_data *d, const struct launches *l)
{
    size_t row = 0;
    for (size_t i = 0; i < d->s->n; i++)
        if (figure_data_has_bar(d, i))
            write_point(out, d, l, d->bars[i] ? ++row : 0, d->s->points[i].point->label, i);
}

static enum status write_points(FILE *out, const struct figure_data *d, struct error *e)
{
    struct launches *l = NULL;
    enum status status = launches_read(&l, d, d->quantity, e);
    fputs("curve,name,point,label,ranks,block,seed,nth,n,value\n", out);
    if (status == OK)
        (d->figure->shape->bars ? write_bars : write_series)(out, d, l);
    launches_free(l);
    return status;
}

/* ---- Of curves over anything ---- */

static void write_row(FILE *out, const struct figure_data *d, const struct table_row *row, size_t k,
                      size_t curve)
{
    const struct table_dots *dots = &row->dots[k];
    for (size_t i = 0; i < dots->n; i++) {
        begin_dot(out, curve, d->table.series[row->series].name, &d->s->points[row->point]);
        figure_write_number(out, row->x);
        fprintf(out, ",%s,%zu,%zu", d->quantities[k].name, i + 1, dots->n);
        figure_write_number(out, d->table.dots[dots->first + i]);
        fputc('\n', out);
    }
}

static void write_rows(FILE *out, const struct figure_data *d)
{
    fputs("curve,name,point,label,ranks,x,y,nth,n,value\n", out);
    for (size_t i = 0; i < d->table.n; i++)
        for (size_t k = 0; k < d->n_quantities; k++)
            write_row(out, d, &d->table.rows[i], k, d->table.series[d->table.rows[i].series].curve);
}

enum status dots_write(FILE *out, const struct figure_data *d, struct error *e)
{
    if (!d->figure->shape->any_x)
        return write_points(out, d, e);
    write_rows(out, d);
    return OK;
}
