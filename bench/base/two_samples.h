/* Two independent samples: how far one is shifted against the other, by the exact distribution, of
 * samples with more than 2^53 orders by the normal one. Inputs are not changed. */
#pragma once

#include "kernels/base/stats.h"

/* The shift of y[m] against x[n], Hodges and Lehmann, "Estimates of location based on rank tests",
 * 1963: mid is the median of all differences y - x, lo and hi those differences that the
 * distribution of Wilcoxon's rank sum gives for `level`. Of samples that differ by a shift alone the
 * interval covers it with probability at least i.level; where n and m are too small for the level,
 * it is all differences and `met` is false. Of logarithms it is the logarithm of a ratio. NAN as
 * with stats.h. */
struct interval two_samples_shift(const double *x, size_t n, const double *y, size_t m,
                                  double level);

/* The same of one sample against a number that is known exactly: the interval of its median. */
struct interval one_sample_shift(double x, const double *y, size_t m, double level);

/* The size at which both, n = m, reach the level; `both` false: the size of one sample. */
size_t samples_wanted(double level, bool both);

/* The largest c with P(U < c) <= tail, U Mann and Whitney's statistic of samples of n and m without
 * ties; *probability is that of c. 0: even P(U = 0) is more. */
size_t rank_sum_critical(size_t n, size_t m, double tail, double *probability);

/* The value that Student's t with `df` degrees of freedom (which need not be whole) is below with
 * probability p in (0, 1). */
double student_quantile(double p, double df);
