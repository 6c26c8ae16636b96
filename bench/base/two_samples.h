/* Estimates the shift between two independent samples, with an exact interval. If the samples can
 * be merged in more than 2^53 orders, the normal approximation is used. */
#pragma once

#include "kernels/base/stats.h"

/* Returns the shift of y[m] relative to x[n] and its confidence interval (Hodges and Lehmann,
 * "Estimates of location based on rank tests", 1963). mid: median of all differences y - x. lo and
 * hi: two of these differences, by Wilcoxon's rank sum. The returned level assumes that the
 * populations differ by a shift alone. If n and m are too small for `level`, or if memory runs out
 * while the rank sum is computed, lo and hi are the smallest and the largest difference, and `met`
 * is false. lo, mid and hi are NAN if a sample is empty or holds a NAN, or if there is no memory
 * for copies of the samples. */
struct interval two_samples_shift(const double *x, size_t n, const double *y, size_t m,
                                  double level);

/* Returns the shift: the median of y[m] minus an exactly known number x. The bounds are the
 * bounds of stats_median_interval, also minus x. */
struct interval one_sample_shift(double x, const double *y, size_t m, double level);

/* Returns the smallest sample size n at which the shift has a confidence interval of `level`.
 * `both`: the shift between two samples of n values; otherwise the shift of one sample of n values
 * from a known number. */
size_t samples_needed(double level, bool both);

/* Returns the largest c with P(U < c) <= tail, for Mann and Whitney's U of n and m values without
 * ties. For large samples, P is the normal approximation. *probability is P(U < c). Returns 0 if
 * P(U = 0) > tail or memory runs out. */
size_t rank_sum_critical(size_t n, size_t m, double tail, double *probability);

/* Returns the p-quantile of Student's t with `df` degrees of freedom, which need not be whole. NAN
 * unless 0 < p < 1 and df > 0. */
double student_quantile(double p, double df);
