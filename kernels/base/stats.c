#include "kernels/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns a sorted copy that the caller frees. NULL if n = 0, if a value is NAN or if out of
 * memory. */
static double *sorted_copy(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return NULL;
    double *copy = n > 0 ? malloc(n * sizeof *copy) : NULL;
    if (copy == NULL)
        return NULL;
    memcpy(copy, x, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, compare);
    return copy;
}

static double sorted_quantile(const double *sorted, size_t n, double q)
{
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    double fraction = position - (double)below;
    if (fraction == 0)
        return sorted[below];
    return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

double stats_quantile(const double *x, size_t n, double q)
{
    double *sorted = q >= 0 && q <= 1 ? sorted_copy(x, n) : NULL;
    double value = sorted != NULL ? sorted_quantile(sorted, n, q) : NAN;
    free(sorted);
    return value;
}

double stats_median(const double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

/* Returns the sum of squared deviations of the Winsorized values from their mean. Winsorizing
 * replaces each of the `trimmed` lowest and `trimmed` highest values by the nearest remaining
 * value. */
static double winsorized_squares(const double *sorted, size_t n, size_t trimmed)
{
    double mean = 0, squares = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            size_t k = i < trimmed ? trimmed : i >= n - trimmed ? n - trimmed - 1 : i;
            if (pass == 0)
                mean += sorted[k] / (double)n;
            else
                squares += (sorted[k] - mean) * (sorted[k] - mean);
        }
    return squares;
}

struct location stats_trimmed(const double *x, size_t n)
{
    struct location location = {NAN, NAN};
    double *sorted = sorted_copy(x, n);
    if (sorted == NULL)
        return location;
    size_t trimmed = n / 5, left = n - 2 * trimmed;
    location.mean = 0;
    for (size_t i = trimmed; i < n - trimmed; i++)
        location.mean += sorted[i] / (double)left;
    if (left > 1)
        location.variance =
            winsorized_squares(sorted, n, trimmed) / ((double)left * (double)(left - 1));
    free(sorted);
    return location;
}

/* Returns the largest rank d whose interval, from the d-th smallest to the d-th largest value,
 * covers the median with probability 1 - 2 P(B <= d - 1) >= level, B binomial (n, 1/2); 0 if none
 * does. *reached is the coverage for max(d, 1). Uses logarithms, because 2^-n underflows for n >
 * 1074. */
static size_t median_rank(size_t n, double level, double *reached)
{
    double log_term = -(double)n * log(2), tail = 0;
    size_t rank = 0;
    *reached = 0;
    for (size_t k = 0; 2 * (k + 1) <= n; k++) {
        tail += exp(log_term);
        log_term += log((double)(n - k) / (double)(k + 1));
        double coverage = 1 - 2 * tail;
        if (k == 0 || coverage >= level)
            *reached = coverage;
        if (coverage < level)
            break;
        rank = k + 1;
    }
    return rank;
}

struct interval stats_median_interval(const double *x, size_t n, double level)
{
    struct interval i = {.lo = NAN, .mid = NAN, .hi = NAN};
    double *sorted = sorted_copy(x, n);
    if (sorted == NULL)
        return i;
    size_t rank = median_rank(n, level, &i.level);
    size_t from_end = rank > 0 ? rank : 1;
    i.met = rank > 0;
    i.lo = sorted[from_end - 1];
    i.mid = sorted_quantile(sorted, n, 0.5);
    i.hi = sorted[n - from_end];
    free(sorted);
    return i;
}

double stats_median_level(size_t n, double level)
{
    double reached;
    median_rank(n, level, &reached);
    return reached;
}

/* Returns NAN for a single value: its interval has width 0, but says nothing about precision. */
double stats_relative_half_width(const struct interval *i)
{
    return i->level > 0 ? (i->hi - i->lo) / 2 / i->mid : NAN;
}

/* ---- Binomial tails ---- */

double stats_binomial_tail(size_t n, size_t k, double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (k == 0 || k > n || p == 0 || p == 1)
        return k == 0 || (k <= n && p == 1) ? 1 : 0;
    double log_term = (double)n * log1p(-p), log_odds = log(p) - log1p(-p), tail = 0;
    for (size_t i = 0; i <= n; i++) {
        tail += i >= k ? exp(log_term) : 0;
        if (i < n)
            log_term += log((double)(n - i) / (double)(i + 1)) + log_odds;
    }
    return fmin(tail, 1);
}

double stats_favourite_tail(size_t n, size_t k, size_t c)
{
    return c > 0 ? fmin((double)c * stats_binomial_tail(n, k, 1 / (double)c), 1) : NAN;
}

/* ---- Lines ---- */

static const struct line undefined_line = {NAN, NAN, NAN, NAN};

static bool are_positive(const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(y[i] > 0))
            return false;
    return n > 0;
}

static void find_residuals(struct line *line, const double *x, const double *y, size_t n)
{
    double sum = 0;
    line->worst = 0;
    for (size_t i = 0; i < n; i++) {
        double residual = (line->intercept + line->slope * x[i] - y[i]) / y[i];
        sum += residual * residual;
        line->worst = fmax(line->worst, fabs(residual));
    }
    line->rms = sqrt(sum / (double)n);
}

/* Fits y = c v by least squares with weights 1 / y^2. Returns c = sum(v / y) / sum(v^2 / y^2). If v
 * is NULL, all v are 1. */
static double fit_factor(const double *v, const double *y, size_t n)
{
    double above = 0, below = 0;
    for (size_t i = 0; i < n; i++) {
        double scaled = (v != NULL ? v[i] : 1) / y[i];
        above += scaled;
        below += scaled * scaled;
    }
    return above / below;
}

struct line stats_fit_slope(const double *x, const double *y, size_t n)
{
    struct line line = {.intercept = 0};
    if (!are_positive(y, n))
        return undefined_line;
    line.slope = fit_factor(x, y, n);
    if (!isfinite(line.slope))
        return undefined_line;
    line.slope = fmax(line.slope, 0);
    find_residuals(&line, x, y, n);
    return line;
}

/* Fits a line whose intercept and slope may be negative. Subtracts the weighted means from x and y
 * before summing products, to avoid cancellation. */
static struct line fit_freely(const double *x, const double *y, size_t n)
{
    double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        double w = 1 / (y[i] * y[i]);
        weight += w;
        mean_x += w * x[i];
        mean_y += w * y[i];
    }
    mean_x /= weight;
    mean_y /= weight;
    for (size_t i = 0; i < n; i++) {
        double w = 1 / (y[i] * y[i]);
        xx += w * (x[i] - mean_x) * (x[i] - mean_x);
        xy += w * (x[i] - mean_x) * (y[i] - mean_y);
    }
    double slope = xy / xx;
    return (struct line){.intercept = mean_y - slope * mean_x, .slope = slope};
}

struct line stats_fit_line(const double *x, const double *y, size_t n)
{
    bool differ = false;
    for (size_t i = 1; i < n; i++)
        differ = differ || x[i] != x[0];
    if (!differ || !are_positive(y, n))
        return undefined_line;
    struct line line = fit_freely(x, y, n);
    if (!isfinite(line.slope) || !isfinite(line.intercept))
        return undefined_line;
    if (line.intercept < 0)
        return stats_fit_slope(x, y, n);
    if (line.slope < 0)
        line = (struct line){.intercept = fit_factor(NULL, y, n)};
    find_residuals(&line, x, y, n);
    return line;
}
