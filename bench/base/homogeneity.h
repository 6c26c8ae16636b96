/* Tests whether the values of a sample are alike: outliers, modes, trend. A finding is a reason to
 * look at the values, not to drop them. No function changes its inputs; all but
 * homogeneity_mean_differs allocate memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the number of outliers among x[n] > 0, at most n / 4. Applies the generalised extreme
 * Studentised deviate test to the logarithms (Rosner, "Percentage points for a generalized ESD
 * many-outlier procedure", 1983). In a normal or log-normal sample, the probability of finding an
 * outlier is at most `alpha`. A value within `least` (0.01: 1 %) of the median is not an outlier.
 * Sets outside[i] to whether x[i] is an outlier; `outside` may be NULL. Returns 0 if n < 6, if a
 * value is not positive or finite, or if memory runs out. */
size_t homogeneity_outliers(bool *outside, const double *x, size_t n, double alpha, double least);

/* Returns the number of modes, 1 or 2, of x[n] > 0. Splits the logarithms into two groups of at
 * least two values so that the between-group sum of squares is largest. The groups are two modes if
 * (1) the ratio of this sum to the within-group sum exceeds its 1 % critical value for normal
 * samples (Engelman and Hartigan, "Percentage points of a test for clusters", 1969) and (2) the
 * geometric means of the groups differ by more than `least` (0.01: 1 %). Returns 1 if n < 6, if a
 * value is not positive or finite, or if memory runs out. */
int homogeneity_modes(const double *x, size_t n, double least);

/* Trend of x[n] over its index. */
struct trend {
    double tau; /* Kendall's rank correlation, -1 to 1 */
    /* change of a fitted line from the first to the last index, as a share of the median of x; the
     * line's slope is the median of the slopes of all pairs (Theil and Sen) */
    double change;
};

/* Returns the trend of x[n]. If n > 64, the values are first replaced by the medians of 64 groups
 * of consecutive values, to bound the number of pairs of points. Both members are NAN if n < 4, if
 * a value is not finite, or if memory runs out. */
struct trend homogeneity_trend(const double *x, size_t n);

/* Returns whether the mean of x[n] differs from 0 at level `alpha`, by a two-sided t test; false if
 * n < 3. */
bool homogeneity_mean_differs(const double *x, size_t n, double alpha);
