/* Whether the values of a sample are of one kind: values that do not belong, two modes, a trend.
 * Inputs are not changed. Nothing here is a reason to leave a value out; it is one to look. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many of x[n] > 0 lie outside, as the generalised extreme Studentised deviate of their
 * logarithms says (Rosner, "Percentage points for a generalized ESD many-outlier procedure", 1983):
 * a quarter of them at most, found with probability `alpha` at most where there are none and x is
 * normal or log-normal. Values within `least` (0.01 is 1 %) of the median are never outside. 0 for
 * n < 6, for other values, and without memory. `outside` [n], unless NULL, says which. */
size_t homogeneity_outliers(bool *outside, const double *x, size_t n, double alpha, double least);

/* The number of modes of x[n] > 0, 1 or 2: two where the logarithms fall into two groups of two or
 * more, further apart by the ratio of the sums of squares between and within them (Engelman and
 * Hartigan, "Percentage points of a test for clusters", 1969) than normal ones are in 1 % of
 * samples, and by `least`. 1 for n < 6, for other values, and without memory. */
int homogeneity_modes(const double *x, size_t n, double least);

/* The trend of x[n] over its index. */
struct trend {
    double tau;    /* Kendall's rank correlation, -1 to 1 */
    double change; /* from the first value to the last, by the median slope of all pairs (Theil and
                      Sen), over the median of x */
};

/* More than 64 values are first made 64 medians of neighbours, so that cost does not grow with the
 * square of n. NAN for n < 4, for values that are no number, and without memory. */
struct trend homogeneity_trend(const double *x, size_t n);

/* Whether the mean of x[n] differs from 0 at level `alpha`, two-sided, by Student's t; n < 3: never. */
bool homogeneity_mean_differs(const double *x, size_t n, double alpha);
