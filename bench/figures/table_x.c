/* Where texts and points stand on x. */
#include <math.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/spec/value.h"

enum status table_x_of_text(double *x, struct figure_table *t, const char *text, struct error *e)
{
    if (!t->by_name) {
        if (!number_parse(text, x))
            *x = NAN;
        return OK;
    }
    *x = (double)table_find_name(t, text, e);
    return *x > 0 ? OK : e->status;
}

enum status table_x_of_point(double *x, struct figure_data *d, size_t point, struct error *e)
{
    const struct point_summary *p = &d->s->points[point];
    if (d->x.by_case)
        return table_x_of_text(x, &d->table, p->point->case_name, e);
    if (d->x.by_run)
        return table_x_of_text(x, &d->table, p->run, e);
    if (d->x.by_column)
        return table_x_of_text(x, &d->table, p->cells[column_find(d->x.name)], e);
    *x = config_number(&p->point->config, d->x.option);
    return d->table.by_name
               ? table_x_of_text(x, &d->table, config_text(&p->point->config, d->x.option), e)
               : OK;
}
