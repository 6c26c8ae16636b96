/* Statistics of launches: nonparametric, exact where an exact form exists. Inputs are not changed.
 * An undefined value is NAN: of no values, of values that contain a NAN, or without memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct interval {
    double lo, mid, hi; /* mid is the sample median */
    double level;       /* the confidence the interval really has, e.g. 0.96875 at n = 6 */
    bool met;           /* false where n is too small for the level asked: lo, hi = min, max */
};

/* Quantile q in [0, 1], linear between order statistics (Hyndman and Fan's type 7). */
double stats_quantile(const double *x, size_t n, double q);

double stats_median(const double *x, size_t n);

/* Where the values lie, the mean of those that are left when a fifth of them, rounded down, is taken
 * from either end, and the variance of that mean, from the Winsorized values: Tukey and McLaughlin,
 * 1963; Yuen, "The two-sample trimmed t for unequal population variances", 1974. A single value has no
 * variance. */
struct location {
    double mean, variance;
};
struct location stats_trimmed(const double *x, size_t n);

/* The narrowest pair of order statistics, symmetric in rank, that covers the median with
 * probability at least `level`, from the binomial distribution (n, 1/2). n = 6 is the smallest for
 * 95 %. */
struct interval stats_median_interval(const double *x, size_t n, double level);

/* The confidence that this interval of n values really has; it depends on no value. */
double stats_median_level(size_t n, double level);

/* P(B >= k), B binomial (n, p): the sum itself, in logarithms, because p^n underflows. NAN unless
 * 0 <= p <= 1. */
double stats_binomial_tail(size_t n, size_t k, double p);

/* How often, in n trials of which each has one of c equally likely outcomes, some outcome turns up k
 * times or more: at most, and for 2 k > n exactly, c times as often as one that was named before
 * (Bonferroni); no more than 1. */
double stats_favourite_tail(size_t n, size_t k, size_t c);

/* y = intercept + slope x by least squares of relative residuals (y - fit) / y, the fit of times
 * that span orders of magnitude and whose errors are in proportion to them; neither coefficient is
 * negative: where the least squares are, the nearest fit on the border is given (two variables: it
 * lies where one of them is 0; Lawson and Hanson, "Solving least squares problems", 1974). */
struct line {
    double intercept, slope;
    double rms, worst; /* relative residuals: root of their mean square, the largest */
};

/* NAN for y <= 0, less than 2 points, or x that are all the same. */
struct line stats_fit_line(const double *x, const double *y, size_t n);

/* The same through the origin: from 1 point on, with one x > 0. */
struct line stats_fit_slope(const double *x, const double *y, size_t n);

/* Half the width over the median; NAN for n < 2. */
double stats_relative_half_width(const struct interval *i);
