#include "bench/collect/timing.h"

#include <math.h>

/* from this number of launches on, the stop rule accepts the requested precision; with fewer, the
 * rule is stricter */
#define WHOLE_LOOK 15.0

/* Returns the required confidence level at n launches, TIMING_LEVEL or higher. If launches are
 * added, each look of the stop rule is a further chance that the interval misses the true median.
 * From the second look (9 launches) on, the level is therefore 1 - TIMING_ADDED_MISS. */
static double level_wanted(size_t n, bool added)
{
    return added && n >= 3 * TIMING_LOOK ? 1 - TIMING_ADDED_MISS : TIMING_LEVEL;
}

struct interval timing_interval(const double *values, size_t n, bool added)
{
    struct interval i = stats_median_interval(values, n, level_wanted(n, added));
    if (n < 2)
        i.lo = i.hi = NAN;
    return i;
}

double timing_level(size_t n, bool added)
{
    return n < 2 ? NAN : stats_median_level(n, level_wanted(n, added));
}

struct interval timing_step_ms(const struct timings *own)
{
    for (size_t i = 0; i < own->n; i++)
        own->values[i] = own->items[i].step_ms;
    return timing_interval(own->values, own->n, own->added);
}

const struct timing *timing_in_block(const struct timings *timings, int block, size_t *at)
{
    for (size_t k = 0; k < timings->n; k++) {
        size_t i = (*at + k) % timings->n;
        if (timings->items[i].block != block)
            continue;
        *at = i + 1;
        return &timings->items[i];
    }
    return NULL;
}

static double images_per_ms(const struct timing *timing)
{
    return timing->images / timing->step_ms;
}

struct interval timing_ratio(const struct timings *own, const struct timings *base, size_t *n)
{
    size_t at = 0;
    *n = 0;
    for (size_t i = 0; i < own->n; i++) {
        const struct timing *reference = timing_in_block(base, own->items[i].block, &at);
        if (reference != NULL)
            own->values[(*n)++] = images_per_ms(&own->items[i]) / images_per_ms(reference);
    }
    return timing_interval(own->values, *n, own->added);
}

struct interval timing_overlap(const struct timings *own, const struct timings *alone, size_t *n)
{
    size_t at = 0;
    *n = 0;
    for (size_t i = 0; i < own->n; i++) {
        const struct timing *t = &own->items[i];
        const struct timing *compute = timing_in_block(alone, t->block, &at);
        if (compute != NULL && t->comm_replay_ms > 0)
            own->values[(*n)++] =
                (compute->step_ms + t->comm_replay_ms - t->step_ms) / t->comm_replay_ms;
    }
    return timing_interval(own->values, *n, own->added);
}

double timing_half_width_pct(const struct interval *i, bool share)
{
    if (!i->met)
        return NAN;
    return 100 * (share ? (i->hi - i->lo) / 2 : stats_relative_half_width(i));
}

double timing_asked_pct(double precision_pct, size_t n)
{
    return precision_pct * fmin(1, (double)n / WHOLE_LOOK);
}
