/* Nonparametric statistics of launches, and line fits. Confidence levels are exact. A result is NAN
 * if there are no values, if a value is NAN or if memory runs out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct interval {
    double lo, mid, hi; /* lower bound, sample median, upper bound */
    double level;       /* actual confidence, for example 0.96875 at n = 6 */
    bool met;           /* whether n suffices for the requested level; if not, lo and hi are minimum
                         * and maximum */
};

/* Returns the q-quantile, 0 <= q <= 1, interpolated linearly between order statistics (type 7 of
 * Hyndman and Fan). */
double stats_quantile(const double *x, size_t n, double q);

double stats_median(const double *x, size_t n);

/* Mean without the floor(n / 5) lowest and highest values, and the variance of this mean (NAN if n
 * = 1) from the Winsorized values (Tukey and McLaughlin, 1963; Yuen, "The two-sample trimmed t for
 * unequal population variances", 1974). */
struct location {
    double mean, variance;
};
struct location stats_trimmed(const double *x, size_t n);

/* Returns the narrowest interval between two order statistics, symmetric in rank, that covers the
 * median with probability `level` or more. If n is too small (below 6 for 95 %), returns minimum to
 * maximum. */
struct interval stats_median_interval(const double *x, size_t n, double level);

/* Returns the actual confidence of stats_median_interval, which only depends on n and `level`. */
double stats_median_level(size_t n, double level);

/* Returns P(B >= k), B binomial (n, p), summed exactly. Terms are computed from logarithms, because
 * p^n can underflow. NAN unless 0 <= p <= 1. */
double stats_binomial_tail(size_t n, size_t k, double p);

/* Returns the probability that, in n trials with c equally likely outcomes, at least one outcome
 * appears k times or more. Exact if 2 k > n, else an upper bound (Bonferroni). NAN if c = 0. */
double stats_favourite_tail(size_t n, size_t k, size_t c);

/* Line y = intercept + slope x, fitted by least squares of the relative residuals (y - fit) / y.
 * Both coefficients are at least 0; if one would be negative, the other is fitted alone (Lawson and
 * Hanson, "Solving least squares problems", 1974). */
struct line {
    double intercept, slope;
    double rms, worst; /* root mean square and largest magnitude of the relative residuals */
};

/* Fits a line to n points by relative least squares (struct line). All members are NAN if any y <=
 * 0, if n < 2 or if all x are equal. */
struct line stats_fit_line(const double *x, const double *y, size_t n);

/* Fits a line through the origin, with slope >= 0, to n points by relative least squares (struct
 * line). All members are NAN if n = 0, if any y <= 0 or if all x are 0. */
struct line stats_fit_slope(const double *x, const double *y, size_t n);

/* Returns half the width of an interval divided by its median; NAN for a single value. */
double stats_relative_half_width(const struct interval *i);
