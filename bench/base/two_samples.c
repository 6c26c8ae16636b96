#include "bench/base/two_samples.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Mann and Whitney's U ---- */

/* Sets ways[u], for u <= most, to the number of orders in which two samples (n and m values) can be
 * merged so that Mann-Whitney's U is u. This number is the coefficient of q^u in prod (1 - q^(n+i))
 * / (1 - q^i), i = 1 .. m (Harding, "An efficient, minimal-storage procedure for calculating the
 * Mann-Whitney U", 1984). Counts are exact below 2^53. */
static void count_ways(double *ways, size_t most, size_t n, size_t m)
{
    memset(ways, 0, (most + 1) * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t u = most; u >= n + i; u--)
            ways[u] -= ways[u - n - i];
        for (size_t u = i; u <= most; u++)
            ways[u] += ways[u - i];
    }
}

static double count_orders(size_t n, size_t m)
{
    double orders = 1;
    for (size_t i = 1; i <= m; i++)
        orders *= (double)(n + i) / (double)i;
    return orders;
}

/* Computes rank_sum_critical by the normal approximation, with continuity correction. */
static size_t normal_critical(size_t n, size_t m, double tail, double *probability)
{
    double mean = (double)(n * m) / 2, sd = sqrt((double)(n * m) * (double)(n + m + 1) / 12), next;
    size_t critical = 0;
    while ((next = erfc((mean - (double)critical - 0.5) / sd / sqrt(2)) / 2) <= tail) {
        *probability = next;
        critical++;
    }
    return critical;
}

size_t rank_sum_critical(size_t n, size_t m, double tail, double *probability)
{
    const double rounding = 1e-12, exact = 0x1p53;
    size_t most = n * m / 2, critical = 0;
    double sum = 0, orders = count_orders(n, m);
    *probability = 0;
    if (orders > exact)
        return normal_critical(n, m, tail, probability);
    double *ways = malloc((most + 1) * sizeof *ways);
    if (ways == NULL)
        return 0;
    count_ways(ways, most, n, m);
    for (size_t u = 0; u < most && (sum += ways[u] / orders) <= tail + rounding; u++) {
        *probability = sum;
        critical = u + 1;
    }
    free(ways);
    return critical;
}

/* ---- Shifts ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct sorted {
    double *x, *y;
    size_t n, m;
};

/* Counts the pairs with y - x <= v in O(n + m) steps, since the number of matching y grows with
 * x. */
static size_t count_differences(const struct sorted *s, double v)
{
    size_t count = 0, j = 0;
    for (size_t i = 0; i < s->n; i++) {
        while (j < s->m && s->y[j] - s->x[i] <= v)
            j++;
        count += j;
    }
    return count;
}

/* Maps doubles to integers that have the same order. */
static int64_t place_of(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}

static double at_place(int64_t place)
{
    double v;
    int64_t bits = place >= 0 ? place : INT64_MIN - place;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Returns the k-th smallest difference y - x, counting from 1. Bisects the doubles between the
 * smallest and the largest difference: at most 64 halvings, each of which counts differences in O(n
 * + m) steps. */
static double select_difference(const struct sorted *s, size_t k)
{
    int64_t lo = place_of(s->y[0] - s->x[s->n - 1]), hi = place_of(s->y[s->m - 1] - s->x[0]);
    while (lo < hi) {
        int64_t mid = (lo & hi) + ((lo ^ hi) >> 1); /* mean rounded down, without overflow */
        if (count_differences(s, at_place(mid)) >= k)
            hi = mid;
        else
            lo = mid + 1;
    }
    return at_place(lo);
}

/* Sets i->mid to the median of all n * m differences y - x, i->lo and i->hi to the `from_end`-th
 * smallest and largest difference, counting from 1. */
static void take_differences(struct interval *i, const struct sorted *s, size_t from_end)
{
    size_t all = s->n * s->m;
    double middle[] = {select_difference(s, (all + 1) / 2), select_difference(s, all / 2 + 1)};
    i->lo = select_difference(s, from_end);
    i->mid = stats_median(middle, 2);
    i->hi = select_difference(s, all + 1 - from_end);
}

static void sort_into(double *sorted, const double *x, size_t n)
{
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, compare);
}

struct interval two_samples_shift(const double *x, size_t n, const double *y, size_t m,
                                  double level)
{
    struct interval i = {.lo = NAN, .mid = NAN, .hi = NAN};
    double *both = n * m > 0 ? malloc((n + m) * sizeof *both) : NULL, tail;
    if (both == NULL || isnan(stats_median(x, n)) || isnan(stats_median(y, m))) {
        free(both);
        return i;
    }
    struct sorted s = {both, both + n, n, m};
    sort_into(s.x, x, n);
    sort_into(s.y, y, m);
    size_t critical = rank_sum_critical(n, m, (1 - level) / 2, &tail);
    i.met = critical > 0;
    i.level = 1 - 2 * (i.met ? tail : fmin(0.5, 1 / count_orders(n, m)));
    take_differences(&i, &s, i.met ? critical : 1);
    free(both);
    return i;
}

struct interval one_sample_shift(double x, const double *y, size_t m, double level)
{
    struct interval i = stats_median_interval(y, m, level);
    i.lo -= x;
    i.mid -= x;
    i.hi -= x;
    return i;
}

size_t samples_needed(double level, bool both)
{
    size_t n = 1;
    while (n < 1000 && 1 - 2 / (both ? count_orders(n, n) : exp2((double)n)) < level - 1e-12)
        n++;
    return n;
}

/* ---- Student's t ---- */

/* Evaluates the continued fraction of the incomplete beta function by Lentz's method (Press et al.,
 * "Numerical Recipes", 6.4). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int k = 1; k < 10000; k++) {
        double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        double before = fraction;
        for (int half = 0; half < 2; half++) {
            double factor = half ? odd : even;
            d = 1 + factor * d;
            c = 1 + factor / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            fraction *= c * d;
        }
        if (fabs(fraction - before) < 1e-15 * fabs(fraction))
            break;
    }
    return fraction;
}

/* Returns the regularised incomplete beta function. */
static double beta_share(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Returns P(T > t), t >= 0, for Student's t distribution with `df` degrees of freedom. */
static double student_tail(double t, double df)
{
    return beta_share(df / 2, 0.5, df / (df + t * t)) / 2;
}

double student_quantile(double p, double df)
{
    if (!(p > 0 && p < 1 && df > 0))
        return NAN;
    if (p < 0.5)
        return -student_quantile(1 - p, df);
    double lo = 0, hi = 1;
    while (student_tail(hi, df) > 1 - p && hi < 1e300)
        hi *= 2;
    for (int i = 0; i < 200 && hi - lo > 1e-15 * hi; i++) {
        double mid = lo + (hi - lo) / 2;
        *(student_tail(mid, df) > 1 - p ? &lo : &hi) = mid;
    }
    return lo + (hi - lo) / 2;
}
