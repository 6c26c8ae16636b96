/* How sure the intervals of the table are: few launches do not reach what is asked for. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

/* Earlier versions did not write all numbers of pairs, nor all levels: blocks hold each point once. */
static double level_of(const struct interval *interval, size_t n, const struct point_summary *p)
{
    if (!isfinite(interval->lo))
        return NAN;
    return timing_level(n > 0 ? n : p->launches, config_adds_launches(&p->point->config));
}

double table_step_level(const struct point_summary *p)
{
    return level_of(&p->step_ms, p->launches, p);
}

double table_speedup_level(const struct point_summary *p)
{
    return level_of(&p->speedup, p->pairs, p);
}

double table_peer_level(const struct point_summary *p)
{
    return level_of(&p->peer_ratio, p->peer_pairs, p);
}

/* "step ms [95 % CI]", "step ms [87.5 % CI]", "step ms [>= 75 % CI]", "step ms". */
static void name_level(struct table_column *column, char *header, size_t size,
                       const struct summary *s)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        least = fmin(least, column->level(&s->points[i]));
        most = fmax(most, column->level(&s->points[i]));
    }
    bool met = least >= TIMING_LEVEL;
    column->tells_level = !met && least < most;
    if (isfinite(least))
        snprintf(header, size, "%s [%s%.4g %% CI]", column->header,
                 column->tells_level ? ">= " : "", 100 * (met ? TIMING_LEVEL : least));
    else
        snprintf(header, size, "%s", column->header);
    column->header = header;
}

void table_name_levels(struct table *t)
{
    size_t n = 0;
    for (size_t c = 0; c < t->n; c++)
        if (t->columns[c].level != NULL) {
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
