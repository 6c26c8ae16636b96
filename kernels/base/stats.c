#include "kernels/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double stats_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n > 0 ? sum / (double)n : NAN;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* An ordered copy that the caller frees; NULL where there is no order (n = 0, a NAN) or no memory.
 */
static double *sorted_copy(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return NULL;
    double *copy = n > 0 ? malloc(n * sizeof *copy) : NULL;
    if (!copy)
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
    double value = sorted ? sorted_quantile(sorted, n, q) : NAN;
    free(sorted);
    return value;
}

double stats_median(const double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

/* The largest d for which the d-th smallest and d-th largest of n values cover the median with
 * probability 1 - 2 P(B <= d - 1) >= level, B binomial (n, 1/2); 0 if not even d = 1 does. *reached
 * is the coverage of d, or of d = 1. Logarithms, because 2^-n underflows beyond n = 1074. */
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
    if (!sorted)
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

/* One value covers the median with probability 0: its interval has a width of 0 that means nothing.
 */
double stats_relative_half_width(const struct interval *i)
{
    return i->level > 0 ? (i->hi - i->lo) / 2 / i->mid : NAN;
}
