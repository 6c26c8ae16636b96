#include "bench/collect/fits.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/scaling_intervals.h"
#include "bench/collect/summary.h"
#include "bench/record/launch_rows.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

static const struct {
    const char *name;
    bool strong, weak;
} laws[LAWS] = {
#define LAW(name, strong, weak, ...) {#name, strong, weak},
#include "bench/base/scaling_laws.def"
};

/* ---- Curves ---- */

/* Points of one series that share a base and have more cores than this base, by ascending ranks. */
struct curve {
    const struct series *series;
    const struct point_summary *base;
    size_t *points;                 /* [n] indices in the summary */
    struct scaling_sample *samples; /* [n] speed-up of each point, with its launch pairs */
    size_t n, rank_counts;
};

static long ranks_of(const struct point_summary *p)
{
    return config_int(&p->point->config, OPT_RANKS);
}

/* Returns whether the point belongs to the curve, which has one base and never joins measured and
 * simulated points. */
static bool belongs(const struct curve *curve, const struct point_summary *p,
                    const struct summary *s)
{
    const struct point_summary *base = &s->points[p->base];
    return point_is_scaled(p, s) && (curve->base == NULL || curve->base == base) &&
           config_is_simulated(&p->point->config) == config_is_simulated(&base->point->config);
}

static void take_curve(struct curve *curve, const struct series *series, const struct summary *s)
{
    long ranks = -1;
    curve->series = series;
    curve->base = NULL;
    curve->n = 0;
    curve->rank_counts = 1;
    for (size_t i = 0; i < series->n; i++) {
        const struct point_summary *p = &s->points[series->points[i]];
        if (!belongs(curve, p, s))
            continue;
        curve->base = &s->points[p->base];
        curve->rank_counts += ranks_of(p) != ranks;
        ranks = ranks_of(p);
        curve->points[curve->n++] = series->points[i];
    }
}

/* ---- Launches ---- */

/* Returns the images per ms of a launch. Rounds the step time as raw.csv does, so that fits are the
 * same whether computed from records or from raw.csv. */
static double rate_of(const struct timing *t)
{
    char text[TEXT_NUMBER];
    double step_ms = NAN;
    number_parse(text_real(text, t->step_ms), &step_ms);
    return t->images / step_ms;
}

/* Adds to sample->pairs one speed-up per block in which the point (`own`) and its base have a
 * launch. sample->pairs must have space for own->n pairs. */
static void pair_launches(struct scaling_sample *sample, const struct timings *own,
                          const struct timings *base)
{
    size_t at = 0;
    for (size_t i = 0; i < own->n; i++) {
        int block = own->items[i].block;
        const struct timing *other = timing_in_block(base, block, &at);
        if (other != NULL)
            sample->pairs[sample->n++] =
                (struct scaling_pair){rate_of(&own->items[i]) / rate_of(other), block};
    }
}

/* Sets the samples of a curve, and *pairs to the array that stores their pairs. If `launches` is
 * NULL, the samples have no pairs. Free *pairs in any case. */
static enum status take_samples(struct curve *curve, struct scaling_pair **pairs,
                                const struct timings *launches, const struct summary *s,
                                struct error *e)
{
    size_t n = 0;
    for (size_t i = 0; launches != NULL && i < curve->n; i++)
        n += launches[curve->points[i]].n;
    TRY(MEM_NEW(*pairs, n, "the launches of a curve", e));
    struct scaling_pair *next = *pairs;
    for (size_t i = 0; i < curve->n; i++) {
        const struct point_summary *p = &s->points[curve->points[i]];
        curve->samples[i] = (struct scaling_sample){(double)p->cores / curve->base->cores,
                                                    p->scaling.speedup.mid, next, 0};
        if (launches == NULL)
            continue;
        pair_launches(&curve->samples[i], &launches[curve->points[i]], &launches[p->base]);
        next += launches[curve->points[i]].n;
    }
    return OK;
}

/* ---- Knees ---- */

enum bound { LO, MID, HI };

static double bound_of(const struct interval *i, enum bound bound)
{
    return bound == LO ? i->lo : bound == HI ? i->hi : i->mid;
}

/* Returns the number of ranks at which the efficiency (MID), or a bound of its interval (LO, HI),
 * first falls below FITS_KNEE. Returns NAN if this value never falls below FITS_KNEE, or is unknown
 * at an earlier point. Between two points, interpolates the relative cost of an image, 1 /
 * efficiency, linearly in the number of ranks. */
static double knee_of(const struct curve *curve, enum bound bound, const struct summary *s)
{
    double ranks = (double)ranks_of(curve->base), inverse = 1;
    for (size_t i = 0; i < curve->n; i++) {
        const struct point_summary *p = &s->points[curve->points[i]];
        double to = (double)ranks_of(p), own = 1 / bound_of(&p->scaling.efficiency, bound);
        if (isnan(own))
            return NAN;
        if (own > 1 / FITS_KNEE)
            return ranks + (to - ranks) * (1 / FITS_KNEE - inverse) / (own - inverse);
        ranks = to;
        inverse = own;
    }
    return NAN;
}

/* ---- Rows ---- */

static double if_finite(double x)
{
    return isfinite(x) ? x : NAN;
}

/* Returns the interval with each infinite number replaced by NAN. In CSV files, the cell of a NAN
 * is empty. */
static struct interval bounded(struct interval i)
{
    return (struct interval){if_finite(i.lo), if_finite(i.mid), if_finite(i.hi), i.level, i.met};
}

static size_t least_pairs(const struct curve *curve)
{
    size_t least = curve->samples[0].n;
    for (size_t i = 1; i < curve->n; i++)
        least = curve->samples[i].n < least ? curve->samples[i].n : least;
    return least;
}

/* relative rounding error of a law's value that count_missed tolerates */
#define ROUNDING 1e-6

/* Counts the points whose speed-up interval does not contain the law's speed-up. Returns NAN if any
 * speed-up has no interval. */
static double count_missed(const struct curve *curve, enum scaling_law law,
                           const struct scaling_intervals *fitted, const struct summary *s)
{
    const struct scaling_fit fit = {.sigma = fitted->sigma.mid, .kappa = fitted->kappa.mid};
    double missed = 0;
    for (size_t i = 0; i < curve->n; i++) {
        const struct interval *own = &s->points[curve->points[i]].scaling.speedup;
        double at = scaling_speedup(law, &fit, curve->samples[i].p);
        if (isnan(own->lo) || isnan(own->hi))
            return NAN;
        missed += at < own->lo * (1 - ROUNDING) || at > own->hi * (1 + ROUNDING);
    }
    return missed;
}

static struct fits_row row_of(const struct curve *curve, enum scaling_law law,
                              const struct scaling_intervals *fitted, const struct summary *s)
{
    const struct point_summary *last = &s->points[curve->points[curve->n - 1]];
    struct interval limit = bounded(fitted->limit), limit_p = bounded(fitted->limit_p);
    struct fits_row row = {.series = curve->series->name,
                           .case_name = last->point->case_name,
                           .kind = last->cells[COLUMN_kind],
                           .law = laws[law].name,
                           .rank_counts = (double)curve->rank_counts,
                           .ranks = (double)ranks_of(last),
                           .pairs = (double)least_pairs(curve),
                           .residual_pct = 100 * fitted->residual,
                           .missed = count_missed(curve, law, fitted, s),
                           .knee_ranks = knee_of(curve, MID, s),
                           .knee_ranks_lo = knee_of(curve, LO, s),
                           .knee_ranks_hi = knee_of(curve, HI, s)};
    CSV_SET_INTERVAL(&row, sigma, fitted->sigma, 1);
    CSV_SET_INTERVAL(&row, kappa, fitted->kappa, 1);
    CSV_SET_INTERVAL(&row, limit, limit, 1);
    CSV_SET_INTERVAL(&row, limit_ranks, limit_p, (double)ranks_of(curve->base));
    return row;
}

static enum status fit_curve(struct fits *fits, struct curve *curve, const struct timings *launches,
                             const struct summary *s, struct error *e)
{
    bool strong = config_int(&s->spec->config, OPT_SCALING) == SCALING_strong;
    struct scaling_pair *pairs;
    enum status status = take_samples(curve, &pairs, launches, s, e);
    for (int law = 0; status == OK && law < LAWS; law++) {
        struct scaling_intervals fitted;
        if (!(strong ? laws[law].strong : laws[law].weak))
            continue;
        status = scaling_intervals(&fitted, law, curve->samples, curve->n, e);
        if (status == OK)
            fits->rows[fits->n++] = row_of(curve, law, &fitted, s);
    }
    free(pairs);
    return status;
}

/* ---- All curves ---- */

static enum status open_fits(struct summary *s, struct curve *curve, struct error *e)
{
    TRY(MEM_NEW(s->fits, 1, "the fits", e));
    TRY(series_collect(&s->fits->series, s, e));
    TRY(MEM_NEW(s->fits->rows, LAWS * s->fits->series.n, "the fits", e));
    TRY(MEM_NEW(curve->points, s->n, "the fits", e));
    return MEM_NEW(curve->samples, s->n, "the fits", e);
}

static enum status fit_all(struct summary *s, struct curve *curve, const struct timings *launches,
                           struct error *e)
{
    for (size_t i = 0; i < s->fits->series.n; i++) {
        take_curve(curve, &s->fits->series.items[i], s);
        if (curve->rank_counts >= FITS_RANK_COUNTS)
            TRY(fit_curve(s->fits, curve, launches, s, e));
    }
    return OK;
}

enum status fits_make(struct summary *s, const struct timings *launches, struct error *e)
{
    struct curve curve = {.n = 0};
    enum status status = open_fits(s, &curve, e);
    THEN(status, fit_all(s, &curve, launches, e));
    free(curve.points);
    free(curve.samples);
    return status;
}

/* ---- Launches of raw.csv ---- */

struct raw_launches {
    struct csv_table raw;
    struct launch_rows rows;
    struct timing *timings;   /* [rows.n] timings, grouped by point. A row that take_launches skips
                                 has no timing, so elements may be unused */
    struct timings *of_point; /* [points of the summary] each point's part of `timings` */
};

/* Sets l->of_point[i] to the launches of point i. Skips rows without a block number, and repeated
 * rows: cases that share a launch repeat its row. */
static void take_launches(struct raw_launches *l, size_t i, const struct summary *s)
{
    size_t n;
    const struct point_summary *p = &s->points[i];
    const struct launch_row *rows = launch_rows_of(&l->rows, p->cells[COLUMN_point], &n);
    struct timing *own = l->timings + (rows - l->rows.items);
    l->of_point[i] = (struct timings){.items = own};
    for (size_t k = 0; k < n; k++)
        if (rows[k].block >= 0 && rows[k].block < INT_MAX &&
            (k == 0 || rows[k].block != rows[k - 1].block))
            own[l->of_point[i].n++] =
                (struct timing){(int)rows[k].block, rows[k].value,
                                point_work(s->spec, p->point, rows[k].images), NAN};
}

static enum status read_launches(struct raw_launches *l, const struct summary *s, const char *path,
                                 struct error *e)
{
    TRY(csv_table_read(&l->raw, path, e));
    TRY(launch_rows_read(&l->rows, &l->raw, "time", "step_ms", false, e));
    TRY(MEM_NEW(l->timings, l->rows.n, "the launches of fits", e));
    TRY(MEM_NEW(l->of_point, s->n, "the launches of fits", e));
    for (size_t i = 0; i < s->n; i++)
        take_launches(l, i, s);
    return OK;
}

static bool has_curves(const struct summary *s, struct curve *curve)
{
    for (size_t i = 0; i < s->fits->series.n; i++) {
        take_curve(curve, &s->fits->series.items[i], s);
        if (curve->rank_counts >= FITS_RANK_COUNTS)
            return true;
    }
    return false;
}

static enum status fit_raw(struct summary *s, struct curve *curve, const char *path,
                           struct error *e)
{
    struct raw_launches l = {.of_point = NULL};
    if (access(path, F_OK) != 0)
        return fit_all(s, curve, NULL, e);
    enum status status = read_launches(&l, s, path, e);
    THEN(status, fit_all(s, curve, l.of_point, e));
    csv_table_free(&l.raw);
    free(l.rows.items);
    free(l.timings);
    free(l.of_point);
    return status;
}

enum status fits_read(struct summary *s, const char *run_dir, struct error *e)
{
    char path[4200];
    struct curve curve = {.n = 0};
    snprintf(path, sizeof path, "%s/raw.csv", run_dir);
    enum status status = open_fits(s, &curve, e);
    if (status == OK && has_curves(s, &curve))
        status = fit_raw(s, &curve, path, e);
    free(curve.points);
    free(curve.samples);
    return status;
}

static bool has_point(const struct series *series, size_t point)
{
    for (size_t i = 0; i < series->n; i++)
        if (series->points[i] == point)
            return true;
    return false;
}

const struct fits_row *fits_find(const struct summary *s, size_t point, const char *law)
{
    const struct fits *fits = s->fits;
    for (size_t i = 0; fits != NULL && i < fits->series.n; i++)
        for (size_t k = 0; k < fits->n && has_point(&fits->series.items[i], point); k++)
            if (fits->rows[k].series == fits->series.items[i].name &&
                strcmp(fits->rows[k].law, law) == 0)
                return &fits->rows[k];
    return NULL;
}

void fits_free(struct fits *fits)
{
    if (fits == NULL)
        return;
    series_free(&fits->series);
    free(fits->rows);
    free(fits);
}
