/* Computes positions on the x axis: of a point, and of a value that is given as text. */
#include <math.h>

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

const char *figure_x_text(const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    if (d->x.by_case)
        return p->point->case_name;
    if (d->x.by_run)
        return p->run;
    if (d->x.by_column)
        return p->cells[column_find(d->x.name)];
    return config_text(&p->point->config, d->x.by_option ? d->x.option : OPT_RANKS);
}

enum status table_x_of_point(double *x, struct figure_data *d, size_t point, struct error *e)
{
    if (!d->x.by_option || d->table.by_name)
        return table_x_of_text(x, &d->table, figure_x_text(d, point), e);
    *x = config_number(&d->s->points[point].point->config, d->x.option);
    return OK;
}
