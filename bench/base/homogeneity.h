/* Tests whether the values of a sample are alike: outliers, modes, trend. A finding is a reason to
 * look at the values, not to drop them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the number of outliers among x[n] > 0, at most n / 4. Applies the generalised extreme
 * Studentised deviate test to the logarithms (Rosner, "Percentage points for a generalized ESD
 * many-outlier procedure", 1983). If x is a log-normal sample, the probability that any value
 * counts as an outlier is at most `alpha`. A value within `least` (0.01: 1 %) of the median is
 * never an outlier. Sets outside[i] to true if x[i] is an outlier, otherwise to false; `outside`
 * may be NULL. Returns 0 if n < 6, if a value is not positive and finite, or if memory runs out. */
size_t homogeneity_outliers(bool *outside, const double *x, size_t n, double alpha, double least);

/* Returns the number of modes of x[n] > 0: 1 or 2. Splits the logarithms into two groups of at
 * least two values, with the largest between-group sum of squares. There are two modes if (1) the
 * ratio of this sum to the within-group sum exceeds its 1 % critical value for normal samples
 * (Engelman and Hartigan, "Percentage points of a test for clusters", 1969) and (2) the geometric
 * means differ by more than `least` (0.01: 1 %). Returns 1 if n < 6, a value is not positive and
 * finite, or memory runs out. */
int homogeneity_modes(const double *x, size_t n, double least);

/* Trend of x[n] over its index. */
struct trend {
    double tau; /* Kendall's rank correlation, -1 to 1 */
    /* change of the Theil-Sen line from first to last index, as a share of the median of x */
    double change;
};

/* Returns the trend of x[n]. If n > 64, uses the medians of 64 groups of consecutive values, to
 * bound the number of pairs. Both members are NAN if n < 4, a value is not finite, or memory runs
 * out. */
struct trend homogeneity_trend(const double *x, size_t n);

/* Returns whether the mean of x[n] differs from 0 at level `alpha`, by a two-sided t test; false if
 * n < 3. */
bool homogeneity_mean_differs(const double *x, size_t n, double alpha);
