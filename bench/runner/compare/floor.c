#include "bench/runner/compare/floor.h"

#include <math.h>

#include "kernels/base/two_samples.h"

static double mean_of(const double *values, size_t n, size_t step)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i * step];
    return sum / (double)n;
}

/* The sums of squares of R and E, without their factors. */
static void find_squares(double *runs, double *rest, const double *logs, size_t points, size_t k)
{
    double all = mean_of(logs, points * k, 1);
    *runs = *rest = 0;
    for (size_t r = 0; r < k; r++) {
        double run = mean_of(logs + r, points, k) - all;
        *runs += (double)points * run * run;
        for (size_t p = 0; p < points; p++) {
            double own = logs[p * k + r] - mean_of(logs + p * k, k, 1) - run;
            *rest += own * own;
        }
    }
}

/* A share of the variance and the degrees of freedom behind it. */
static double satterthwaite(double a, double df_a, double b, double df_b)
{
    double below = a * a / df_a + (df_b > 0 ? b * b / df_b : 0);
    return below > 0 ? (a + b) * (a + b) / below : df_a + df_b;
}

void floor_add(struct noise_floor *floor, const double *logs, size_t points, size_t k)
{
    if (points == 0 || k < 2)
        return;
    double runs, rest, n = (double)points, df = (double)(k - 1);
    find_squares(&runs, &rest, logs, points, k);
    double together = runs / df / n, apart = rest / df / n;
    double degrees = satterthwaite(together, df, apart, df * (n - 1));
    floor->variance = (floor->degrees * floor->variance + degrees * (together + apart)) /
                      (floor->degrees + degrees);
    floor->degrees += degrees;
    floor->repetitions += k;
}

double floor_width(const struct noise_floor *floor, double level)
{
    if (floor->repetitions == 0)
        return NAN;
    return student_quantile((1 + level) / 2, floor->degrees) * sqrt(2 * floor->variance);
}
