#include "bench/base/homogeneity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/two_samples.h"
#include "kernels/base/stats.h"

enum { N_MIN = 6 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool take_logs(double *logs, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0 && isfinite(x[i])))
            return false;
        logs[i] = log(x[i]);
    }
    return true;
}

/* ---- Outliers ---- */

/* Returns the index of the value furthest from the mean, among the values with `out` false.
 * *deviate is the distance from the mean in standard deviations. */
static size_t furthest(double *deviate, const double *x, const bool *out, size_t n)
{
    double sum = 0, squares = 0;
    size_t worst = n, in = 0;
    for (size_t i = 0; i < n; i++)
        if (!out[i]) {
            sum += x[i];
            in++;
        }
    double mean = sum / (double)in;
    for (size_t i = 0; i < n; i++)
        if (!out[i]) {
            squares += (x[i] - mean) * (x[i] - mean);
            if (worst == n || fabs(x[i] - mean) > fabs(x[worst] - mean))
                worst = i;
        }
    double sd = sqrt(squares / (double)(in - 1));
    *deviate = sd > 0 ? fabs(x[worst] - mean) / sd : 0;
    return worst;
}

/* Returns the critical value of Grubbs' two-sided test at level `alpha` for n normal values. The
 * test statistic is the largest distance from the mean, in standard deviations. */
static double critical_deviate(size_t n, double alpha)
{
    double df = (double)n - 2, t = student_quantile(1 - alpha / (2 * (double)n), df);
    return ((double)n - 1) * t / sqrt((df + t * t) * (double)n);
}

/* Writes the indices of the outliers to `order` (room for n / 4) and returns their number. Each of
 * n / 4 rounds tests the value furthest from the mean and removes it. All values removed up to the
 * last significant test are outliers. Returns 0 if memory runs out. */
static size_t find_outliers(size_t *order, const double *logs, size_t n, double alpha)
{
    size_t found = 0;
    bool *out = calloc(n, sizeof *out);
    if (out == NULL)
        return 0;
    for (size_t k = 0; k < n / 4; k++) {
        double deviate;
        order[k] = furthest(&deviate, logs, out, n);
        out[order[k]] = true;
        if (deviate > critical_deviate(n - k, alpha / (double)(n / 4)))
            found = k + 1;
    }
    free(out);
    return found;
}

size_t homogeneity_outliers(bool *outside, const double *x, size_t n, double alpha, double least)
{
    size_t found = 0, counted = 0;
    if (outside != NULL)
        memset(outside, 0, n * sizeof *outside);
    double *logs = malloc((n + 1) * sizeof *logs);
    size_t *order = malloc((n + 1) * sizeof *order);
    if (n >= N_MIN && logs != NULL && order != NULL && take_logs(logs, x, n))
        found = find_outliers(order, logs, n, alpha);
    double median = found > 0 ? stats_median(logs, n) : 0;
    for (size_t k = 0; k < found; k++) {
        bool far = fabs(logs[order[k]] - median) > log1p(least);
        counted += far;
        if (outside != NULL)
            outside[order[k]] = far;
    }
    free(logs);
    free(order);
    return counted;
}

/* ---- Modes ---- */

/* Returns the 1 % critical value of the test for two modes, for n >= 6 normal values. The test's
 * statistic is the between-group sum of squares divided by the within-group sum of squares. Each
 * entry of `points` comes from a million simulated samples. */
static double critical_ratio(size_t n)
{
    static const struct {
        double n, ratio;
    } points[] = {{6, 29.66}, {7, 19.74}, {8, 14.68}, {9, 11.74}, {10, 9.90},
                  {12, 7.79}, {14, 6.61}, {16, 5.82}, {20, 4.91}, {25, 4.26},
                  {30, 3.85}, {40, 3.39}, {60, 2.95}};
    size_t last = sizeof points / sizeof *points - 1, i = 0;
    if ((double)n >= points[last].n)
        return points[last].ratio;
    while ((double)n >= points[i + 1].n)
        i++;
    double share =
        log(((double)n - 3) / (points[i].n - 3)) / log((points[i + 1].n - 3) / (points[i].n - 3));
    return points[i].ratio * pow(points[i + 1].ratio / points[i].ratio, share);
}

/* Returns whether x[n], logarithms in ascending order, has two modes (see homogeneity_modes). */
static bool is_cut(const double *x, size_t n, double least)
{
    double mean = 0, total = 0, below = 0, best = -1, gap = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        total += (x[i] - mean) * (x[i] - mean);
    for (size_t k = 1; k <= n - 2; k++) {
        below += x[k - 1] - mean;
        double low = below / (double)k, high = -below / (double)(n - k);
        double between = (double)k * low * low + (double)(n - k) * high * high;
        if (k >= 2 && between > best) {
            best = between;
            gap = high - low;
        }
    }
    return gap > log1p(least) && best > critical_ratio(n) * fmax(0, total - best);
}

int homogeneity_modes(const double *x, size_t n, double least)
{
    bool two = false;
    double *logs = malloc((n + 1) * sizeof *logs);
    if (n >= N_MIN && logs != NULL && take_logs(logs, x, n)) {
        qsort(logs, n, sizeof *logs, compare);
        two = is_cut(logs, n, least);
    }
    free(logs);
    return two ? 2 : 1;
}

/* ---- Trend ---- */

enum { TREND_MAX = 64, TREND_MIN = 4 };

static void trend_of(struct trend *trend, const double *x, size_t n, double *slopes)
{
    size_t pairs = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            sum += (x[k] > x[i]) - (x[k] < x[i]);
            slopes[pairs++] = (x[k] - x[i]) / (double)(k - i);
        }
    trend->tau = sum / (double)pairs;
    trend->change = stats_median(slopes, pairs) * (double)(n - 1) / stats_median(x, n);
}

struct trend homogeneity_trend(const double *x, size_t n)
{
    double few[TREND_MAX];
    size_t m = n < TREND_MAX ? n : TREND_MAX;
    struct trend trend = {.tau = NAN, .change = NAN};
    for (size_t i = 0; i < m; i++) {
        size_t begin = i * n / m, end = (i + 1) * n / m;
        few[i] = stats_median(x + begin, end - begin);
        if (!isfinite(few[i]))
            return trend;
    }
    double *slopes = m >= TREND_MIN ? malloc(m * (m - 1) / 2 * sizeof *slopes) : NULL;
    if (slopes != NULL)
        trend_of(&trend, few, m, slopes);
    free(slopes);
    return trend;
}

bool homogeneity_mean_differs(const double *x, size_t n, double alpha)
{
    double mean = 0, squares = 0;
    if (n < 3)
        return false;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double error = sqrt(squares / (double)(n - 1) / (double)n);
    return fabs(mean) > error * student_quantile(1 - alpha / 2, (double)n - 1);
}
