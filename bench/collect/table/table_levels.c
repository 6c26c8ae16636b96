/* Adds the confidence level to the headers of columns with intervals. If the levels of a column
 * differ and the lowest is below 95 %, also adds the level to each cell whose level is below 95 %.
 * Levels are below 95 % if there are few launches. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

const struct interval *table_interval(const struct table_column *c, const struct point_summary *p)
{
    return (const struct interval *)((const char *)p + c->member);
}

/* Tables of earlier versions lack the number of launch pairs. The number of launches replaces it,
 * since each block has one launch per point. */
double table_level(const struct table_column *c, const struct point_summary *p)
{
    size_t n = *(const size_t *)((const char *)p + c->values);
    if (!isfinite(table_interval(c, p)->lo))
        return NAN;
    return timing_level(n > 0 ? n : p->launches, config_adds_launches(&p->point->config));
}

/* Writes a header with the confidence level, such as "step ms [95 % CI]". If levels differ and the
 * lowest is below 95 %: "step ms [>= 75 % CI]". */
static void name_level(struct table_column *column, char *header, size_t size,
                       const struct summary *s)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        least = fmin(least, table_level(column, &s->points[i]));
        most = fmax(most, table_level(column, &s->points[i]));
    }
    bool met = least >= TIMING_LEVEL;
    column->names_level = !met && least < most;
    if (isfinite(least))
        snprintf(header, size, "%s [%s%.4g %% CI]", column->header,
                 column->names_level ? ">= " : "", 100 * (met ? TIMING_LEVEL : least));
    else
        snprintf(header, size, "%s", column->header);
    column->header = header;
}

void table_name_levels(struct table *t)
{
    size_t n = 0;
    for (size_t c = 0; c < t->n; c++)
        if (t->columns[c].values > 0) {
            name_level(&t->columns[c], t->level_headers[n], sizeof t->level_headers[n], t->s);
            n++;
        }
}

void table_add_level(char text[TABLE_CELL], double level)
{
    size_t used = strlen(text);
    if (level < TIMING_LEVEL)
        snprintf(text + used, TABLE_CELL - used, " (%.4g %%)", 100 * level);
}
