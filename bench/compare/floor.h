/* What changes between campaigns of one thing, and by how much two of them may differ for it. Launches
 * of one campaign do not show it: the processor's temperature, where memory came to lie, what else the
 * machine does that hour. Repetitions do, runs that measured the same points again under the same facts
 * (begun with --fresh). Internal to bench/compare.
 *
 * The model has two levels (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013): the
 * logarithm of a launch is that of its point, plus what its campaign changes, of variance t^2, plus what
 * launches scatter. y[p][r] is where the launches of point p lie in repetition r (stats_trimmed, whose
 * variance is v[p][r]), p < P, r < k, of points that all repetitions have. What changes for all points of
 * a campaign together and what changes for each by itself are the mean squares of a table with two ways,
 *
 *   R = P sum_r (y[.][r] - y[.][.])^2 / (k - 1)
 *   E = sum_pr (y[p][r] - y[p][.] - y[.][r] + y[.][.])^2 / ((k - 1)(P - 1))
 *
 * of which a point's variance between repetitions is s^2 = (R + (P - 1) E) / P, the mean over points of
 * their variances, with degrees of freedom after Satterthwaite (1946): between k - 1, when points change
 * together, and P (k - 1), when they do not. It holds what launches scatter, too: t^2 is estimated as
 * s^2 less the mean of v, at least 0.
 *
 * So few campaigns tell little of a variance: of 3 the 95 % interval of t spans a factor of 12. The
 * estimate is therefore moderated by what is usual (Smyth, "Linear models and empirical Bayes methods for
 * assessing differential expression", 2004): t0, of compared.def, counts as FLOOR_DEGREES degrees of
 * freedom,
 *
 *   t^2 = (d0 t0^2 + d max(0, s^2 - mean v)) / (d0 + d)
 *
 * with d0 + d degrees, where several groups of repetitions each bring their own d. At 10 degrees t0 = 1.5 %
 * stands for anything from 1.0 to 2.6 %. Where t0 is 0 (bytes, losses) it has no degrees.
 *
 * The means of a and of b campaigns of one thing then differ, besides by what launches scatter, by no more
 * than q t sqrt(1 / a + 1 / b), q the two-sided quantile of Student's at the level: the floor. */
#pragma once

#include <stddef.h>

enum { FLOOR_DEGREES = 10 };

struct noise_floor {
    double variance, degrees; /* t^2 of logarithms */
    double usual;             /* t0 */
    double given;             /* half a width for a = b = 1 that takes the place of all that; NAN */
    size_t repetitions;       /* runs that it rests on; 0: it is what is usual */
};

/* What is usual: `sd_pct` is t0. */
void floor_begin(struct noise_floor *floor, double sd_pct);

/* Adds a group of k repetitions: logs and variances are y and v [points, k]; a variance that is NAN is
 * taken for 0. Nothing is added of less than two. */
void floor_add(struct noise_floor *floor, const double *logs, const double *variances,
               size_t points, size_t k);

/* Half the width at a level, of logarithms, for means of a and b campaigns; 0 campaigns: that side is
 * known exactly. */
double floor_width(const struct noise_floor *floor, double level, size_t a, size_t b);

/* How many campaigns on either side make that half a width no more than `width`; 0: more than 100. */
size_t floor_campaigns(const struct noise_floor *floor, double level, double width);
