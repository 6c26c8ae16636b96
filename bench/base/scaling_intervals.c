#include "bench/base/scaling_intervals.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"

#define LEVEL 0.95

/* The bounds of an interval are the 25th smallest and 25th largest of 999 resampled values, as 25
 * is 2.5 % of RESAMPLES + 1. */
enum { RESAMPLES = 999, BOUND = 25 };

struct resampling {
    const struct scaling_sample *curve; /* [n] points of the curve */
    size_t n;
    int *blocks; /* [n_blocks] numbers of all blocks of launches, ascending */
    size_t n_blocks;
    size_t *drawn;                /* [n_blocks] how often a resample has drawn each block */
    struct scaling_point *points; /* [n] the resampled curve */
    double *sigma, *kappa, *limit, *limit_p; /* [RESAMPLES] parameters fitted to each resample */
};

static int by_ratio(const void *a, const void *b)
{
    const struct scaling_pair *x = a, *y = b;
    int order = (x->ratio > y->ratio) - (x->ratio < y->ratio);
    return order != 0 ? order : (x->block > y->block) - (x->block < y->block);
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void list_blocks(struct resampling *r)
{
    size_t all = 0;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->curve[i].n; k++)
            r->blocks[all++] = r->curve[i].pairs[k].block;
    qsort(r->blocks, all, sizeof *r->blocks, by_number);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || r->blocks[i] != r->blocks[i - 1])
            r->blocks[r->n_blocks++] = r->blocks[i];
}

static enum status begin(struct resampling *r, struct error *e)
{
    static const char what[] = "resampled launches";
    size_t pairs = 0;
    for (size_t i = 0; i < r->n; i++)
        pairs += r->curve[i].n;
    TRY(MEM_NEW(r->blocks, pairs, what, e));
    TRY(MEM_NEW(r->drawn, pairs, what, e));
    TRY(MEM_NEW(r->points, r->n, what, e));
    TRY(MEM_NEW(r->sigma, 4 * RESAMPLES, what, e));
    r->kappa = r->sigma + RESAMPLES;
    r->limit = r->kappa + RESAMPLES;
    r->limit_p = r->limit + RESAMPLES;
    list_blocks(r);
    for (size_t i = 0; i < r->n; i++)
        qsort(r->curve[i].pairs, r->curve[i].n, sizeof *r->curve[i].pairs, by_ratio);
    return OK;
}

static void end(struct resampling *r)
{
    free(r->blocks);
    free(r->drawn);
    free(r->points);
    free(r->sigma);
}

static void draw(struct resampling *r, uint32_t resample)
{
    memset(r->drawn, 0, r->n_blocks * sizeof *r->drawn);
    for (uint32_t k = 0; k < r->n_blocks; k++) {
        uint64_t word = rng_word(1, RNG_STREAM(RNG_SCHEDULE, 1), 0, resample, k);
        r->drawn[word * r->n_blocks >> 32]++;
    }
}

static size_t times_drawn(const struct resampling *r, int block)
{
    const int *found = bsearch(&block, r->blocks, r->n_blocks, sizeof *r->blocks, by_number);
    return r->drawn[found - r->blocks];
}

/* Returns the `rank`-th smallest ratio of a sample; the smallest has `rank` 0. Each ratio counts as
 * often as its block was drawn. */
static double ratio_at(const struct resampling *r, const struct scaling_sample *sample, size_t rank)
{
    size_t k = 0;
    for (size_t below = 0; k + 1 < sample->n; k++) {
        below += times_drawn(r, sample->pairs[k].block);
        if (below > rank)
            break;
    }
    return sample->pairs[k].ratio;
}

/* Returns the median of a sample's ratios, each counted as often as its block was drawn. If no
 * block was drawn, each ratio counts once. */
static double median_of(const struct resampling *r, const struct scaling_sample *sample)
{
    size_t n = 0;
    for (size_t k = 0; k < sample->n; k++)
        n += times_drawn(r, sample->pairs[k].block);
    if (n == 0)
        return sample->speedup;
    return (ratio_at(r, sample, (n - 1) / 2) + ratio_at(r, sample, n / 2)) / 2;
}

static void set_bounds(struct interval *i, double *fitted)
{
    qsort(fitted, RESAMPLES, sizeof *fitted, by_value);
    i->lo = fitted[BOUND - 1];
    i->hi = fitted[RESAMPLES - BOUND];
    i->level = LEVEL;
    i->met = true;
}

static void resample(struct scaling_intervals *fitted, enum scaling_law law, struct resampling *r)
{
    for (uint32_t b = 0; b < RESAMPLES; b++) {
        draw(r, b);
        for (size_t i = 0; i < r->n; i++)
            r->points[i] = (struct scaling_point){r->curve[i].p, median_of(r, &r->curve[i])};
        struct scaling_fit fit = scaling_fit(law, r->points, r->n);
        r->sigma[b] = fit.sigma;
        r->kappa[b] = fit.kappa;
        r->limit[b] = fit.limit;
        r->limit_p[b] = fit.limit_p;
    }
    set_bounds(&fitted->sigma, r->sigma);
    set_bounds(&fitted->kappa, r->kappa);
    set_bounds(&fitted->limit, r->limit);
    set_bounds(&fitted->limit_p, r->limit_p);
    if (fitted->kappa.lo == 0)
        fitted->limit.hi = fmax(fitted->limit.hi, 1 / fitted->sigma.lo);
}

static struct interval only(double x)
{
    return (struct interval){.lo = NAN, .mid = x, .hi = NAN, .level = NAN};
}

static bool has_intervals(const struct scaling_sample *curve, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(stats_median_level(curve[i].n, LEVEL) >= LEVEL))
            return false;
    return true;
}

enum status scaling_intervals(struct scaling_intervals *fitted, enum scaling_law law,
                              const struct scaling_sample *curve, size_t n, struct error *e)
{
    struct resampling r = {.curve = curve, .n = n};
    enum status status = begin(&r, e);
    for (size_t i = 0; status == OK && i < n; i++)
        r.points[i] = (struct scaling_point){curve[i].p, curve[i].speedup};
    if (status == OK) {
        struct scaling_fit fit = scaling_fit(law, r.points, n);
        *fitted = (struct scaling_intervals){only(fit.sigma), only(fit.kappa), only(fit.limit),
                                             only(fit.limit_p), fit.residual};
        if (isfinite(fit.sigma) && has_intervals(curve, n))
            resample(fitted, law, &r);
    }
    end(&r);
    return status;
}
