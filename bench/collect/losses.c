#include "bench/collect/losses.h"

#include <math.h>
#include <stdlib.h>

#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

static double known(double x)
{
    return isnan(x) ? 0 : x;
}

/* Returns the reason why lost efficiency cannot be split into causes; NULL: it can be split. */
static const char *doubt(const struct point_summary *p, const struct point_summary *base,
                         const struct losses_row *row)
{
    if (point_is_busy(p) || point_is_busy(base))
        return "other programs used the cores";
    if (isnan(row->scatter_pct))
        return "a single launch may differ by chance";
    return fabs(row->lost_pct) > row->scatter_pct ? NULL
                                                  : "launches differ as much from each other";
}

/* Returns the optimizer's share of the step time (%). The share grows with the number of ranks if
 * every rank runs the whole optimizer. */
static double optimizer_share(const struct point_summary *p)
{
    return 100 * cell_number(p, COLUMN_optimizer_ms) / p->step_ms.mid;
}

static struct losses_row row_of(const struct point_summary *p, const struct point_summary *base,
                                const char *series)
{
    struct losses_row row = {
        .point = p->cells[COLUMN_point],
        .label = p->point->label,
        .case_name = p->point->case_name,
        .series = series,
        .ranks = (double)config_int(&p->point->config, OPT_RANKS),
        .lost_pct = 100 * (1 - p->scaling.efficiency.mid),
        .comm_pct = p->shares.comm_pct - p->scaling.efficiency.mid * known(base->shares.comm_pct),
        .wait_pct = p->shares.wait_pct - p->scaling.efficiency.mid * known(base->shares.wait_pct),
        .optimizer_pct = optimizer_share(p) - p->scaling.efficiency.mid * optimizer_share(base),
        .scatter_pct = 100 * p->scaling.efficiency.mid *
                       (p->scaling.speedup.hi - p->scaling.speedup.lo) / 2 / p->scaling.speedup.mid,
        .karp_flatt = p->scaling.karp_flatt.mid};
    double compute_pct =
        p->shares.compute_pct - p->scaling.efficiency.mid * base->shares.compute_pct;
    row.compute_pct = compute_pct - known(row.optimizer_pct);
    row.other_pct = row.lost_pct - row.comm_pct - known(row.wait_pct) - compute_pct;
    row.doubt = doubt(p, base, &row);
    return row;
}

static bool has_interval(const struct point_summary *p)
{
    size_t n = p->scaling.pairs > 0 ? p->scaling.pairs : p->launches;
    return isfinite(p->scaling.karp_flatt.lo) && isfinite(p->scaling.karp_flatt.hi) &&
           timing_level(n, config_adds_launches(&p->point->config)) >= SUMMARY_CONFIDENCE;
}

/* Returns the trend of karp_flatt along a series, whose rows begin at `first`: "rising", "falling"
 * or NULL. karp_flatt must rise, or fall, from each point to the next. The 95 % intervals of the
 * first and last point must not overlap. Ignores points without such an interval. */
static const char *trend(const struct losses *losses, size_t first, const struct summary *s)
{
    const struct point_summary *from = NULL, *to = NULL;
    bool rising = true, falling = true;
    for (size_t i = first; i < losses->n; i++) {
        const struct point_summary *p = &s->points[losses->points[i]];
        if (!has_interval(p))
            continue;
        rising = rising && (to == NULL || p->scaling.karp_flatt.mid > to->scaling.karp_flatt.mid);
        falling = falling && (to == NULL || p->scaling.karp_flatt.mid < to->scaling.karp_flatt.mid);
        from = from == NULL ? p : from;
        to = p;
    }
    if (from == to)
        return NULL;
    if (rising && to->scaling.karp_flatt.lo > from->scaling.karp_flatt.hi)
        return "rising";
    return falling && to->scaling.karp_flatt.hi < from->scaling.karp_flatt.lo ? "falling" : NULL;
}

bool losses_name_last_rank(const struct point_last *last, size_t looked_at)
{
    return last->rank >= 0 && last->p * (double)looked_at <= 1 - SUMMARY_CONFIDENCE;
}

static void take_series(struct losses *losses, const struct series *series, const struct summary *s)
{
    size_t first = losses->n;
    for (size_t i = 0; i < series->n; i++) {
        const struct point_summary *p = &s->points[series->points[i]];
        if (!point_is_scaled(p, s))
            continue;
        losses->points[losses->n] = series->points[i];
        losses->rows[losses->n++] = row_of(p, &s->points[p->base], series->name);
    }
    for (size_t i = first; i < losses->n; i++) {
        losses->rows[i].largest = i + 1 == losses->n;
        losses->rows[i].karp_flatt_trend = trend(losses, first, s);
    }
}

enum status losses_collect(struct losses *losses, const struct summary *s, struct error *e)
{
    *losses = (struct losses){.n = 0};
    TRY(series_collect(&losses->series, s, e));
    TRY(MEM_NEW(losses->rows, s->n, "the losses", e));
    TRY(MEM_NEW(losses->points, s->n, "the losses", e));
    for (size_t k = 0; k < losses->series.n; k++)
        take_series(losses, &losses->series.items[k], s);
    return OK;
}

void losses_free(struct losses *losses)
{
    series_free(&losses->series);
    free(losses->rows);
    free(losses->points);
    *losses = (struct losses){.n = 0};
}
