/* Noise floor: variation between campaigns that measure the same thing, caused by temperature,
 * placement of memory or other load. Launches of one campaign do not show this variation, but
 * repetitions (repeats.h) do. Internal to bench/compare.
 *
 * The model has two levels (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013).
 * The logarithm of a launch's value is the location of its point, plus an effect of the campaign
 * with variance t^2, plus the scatter of launches. Let y[p][r] be the location (stats_trimmed) of
 * point p's launches in repetition r, and v[p][r] its variance. Only the P points in all k
 * repetitions count. A two-way table separates changes common to all points of a campaign, R, from
 * changes of each point, E:
 *
 *   R = P sum_r (y[.][r] - y[.][.])^2 / (k - 1)
 *
 *   E = sum_pr (y[p][r] - y[p][.] - y[.][r] + y[.][.])^2 / ((k - 1)(P - 1))
 *
 * A point's variance between repetitions is then s^2 = (R + (P - 1) E) / P, the mean over points.
 * Its degrees of freedom d follow Satterthwaite (1946): between k - 1, if points change together,
 * and P (k - 1), if they do not. s^2 includes the scatter of launches, so t^2 is estimated as s^2
 * minus the mean of v, at least 0.
 *
 * Few campaigns determine a variance poorly: with 3 campaigns the 95 % interval of t spans a factor
 * of 12. So the estimate is moderated by a default t0 from compared.def (Smyth, "Linear models and
 * empirical Bayes methods for assessing differential expression", 2004). t0 counts as
 * d0 = FLOOR_DEGREES degrees of freedom:
 *
 *   t^2 = (d0 t0^2 + d max(0, s^2 - mean v)) / (d0 + d)
 *
 * The result has d0 + d degrees. Each further group of repetitions adds its own d. With 10 degrees
 * and t0 = 1.5 %, the 95 % interval of t is 1.0 to 2.6 %. If t0 is 0 (bytes, losses), d0 is 0.
 *
 * The floor excludes the scatter of launches. The mean of `a` campaigns and the mean of `b`
 * campaigns of the same thing then differ by at most q t sqrt(1 / a + 1 / b), with q the two-sided
 * quantile of Student's t at the caller's confidence level. */
#pragma once

#include <stddef.h>

enum { FLOOR_DEGREES = 10 };

struct noise_floor {
    double variance, degrees; /* t^2 (variance between campaigns) and its degrees of freedom */
    double usual;             /* t0: default of t, the standard deviation between campaigns
                                 (logarithms) */
    /* half width of the noise floor (logarithms) from --floor, for one campaign on each side of a
     * ratio. floor_width scales it to other numbers of campaigns. NAN: not given; `variance` sets
     * the width */
    double given;
    size_t repetitions; /* number of campaigns that the estimate uses; 0: the estimate is the
                           default in `usual` */
};

/* Sets the floor to its default: a standard deviation of `sd_pct` per cent between campaigns (t0 in
 * the formula above). */
void floor_begin(struct noise_floor *floor, double sd_pct);

/* Adds k repetitions of one campaign to the estimate. logs [points, k]: trimmed means
 * (stats_trimmed) of the logarithms of launches' values. variances [points, k]: variances of these
 * means; NAN counts as 0. Does nothing if k < 2 or points is 0. */
void floor_add(struct noise_floor *floor, const double *logs, const double *variances,
               size_t points, size_t k);

/* Returns the half width of the noise floor at confidence `level`, in logarithms. `a`, `b`: number
 * of campaigns on each side of the ratio; 0: that side is an exact value. */
double floor_width(const struct noise_floor *floor, double level, size_t a, size_t b);

/* Returns the smallest number of campaigns per side with which the half width of the noise floor is
 * at most `width` (in logarithms). 0: more than 100 are needed, or the floor is 0. */
size_t floor_campaigns(const struct noise_floor *floor, double level, double width);
