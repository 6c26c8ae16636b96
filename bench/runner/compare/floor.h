/* What changes between campaigns: the spread of runs that measured the same points again under the
 * same facts (begun with --fresh). Launches of one campaign do not show it: the processor's
 * temperature, where memory came to lie, what else the machine does that hour. Internal to
 * bench/runner/compare.
 *
 * y[p][r] is the logarithm of the median that point p has in repetition r, p < P, r < k, of points that
 * all of them have. What changes for all points of a campaign together and what changes for each by
 * itself are the mean squares of a table with two ways,
 *
 *   R = P sum_r (y[.][r] - y[.][.])^2 / (k - 1)
 *   E = sum_pr (y[p][r] - y[p][.] - y[.][r] + y[.][.])^2 / ((k - 1)(P - 1))
 *
 * of which a point's variance between campaigns is s^2 = (R + (P - 1) E) / P, the mean over points of
 * their variances, with degrees of freedom after Satterthwaite (1946): between k - 1, when points
 * change together, and P (k - 1), when they do not. Several groups of repetitions are pooled by their
 * degrees of freedom. The floor at a level is t s sqrt(2), t the two-sided quantile of Student's: half
 * the width that the difference of two campaigns of one thing has. s holds the
 * scatter of medians of launches, too. */
#pragma once

#include <stdbool.h>

#include "bench/runner/compare/side.h"

struct noise_floor {
    double variance, degrees;
    size_t repetitions; /* runs that it rests on; 0: it is not known */
};

/* Adds a group of k repetitions: logs [points, k]. Nothing is added of less than two. */
void floor_add(struct noise_floor *floor, const double *logs, size_t points, size_t k);

/* Half the width at a level, of logarithms; NAN where nothing is known. */
double floor_width(const struct noise_floor *floor, double level);

/* Adds the repetitions that lie beside the runs of these sides, which are compared with each other and
 * count only as what they are: of several that repeat each other the first counts, the others would
 * hide the difference that is looked for. */
enum status floor_find(struct noise_floor *floor, const struct side *const *sides, size_t n,
                       const struct compared *what, struct error *e);
