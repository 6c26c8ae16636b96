#include "bench/compare/floor.h"

#include <math.h>

#include "bench/base/two_samples.h"

static double mean_of(const double *values, size_t n, size_t step)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += isnan(values[i * step]) ? 0 : values[i * step];
    return sum / (double)n;
}

/* Computes the sums of squares in the numerators of R and E (floor.h). *runs (R): changes common to
 * all points. *rest (E): changes of single points. logs [points, k]: one column per repetition. */
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

/* Returns Satterthwaite's degrees of freedom of the sum of two variances: a with df_a degrees, b
 * with df_b degrees. If a = b = 0: df_a + df_b. */
static double satterthwaite(double a, double df_a, double b, double df_b)
{
    double below = a * a / df_a + (df_b > 0 ? b * b / df_b : 0);
    return below > 0 ? (a + b) * (a + b) / below : df_a + df_b;
}

void floor_begin(struct noise_floor *floor, double sd_pct)
{
    double sd = log1p(sd_pct / 100);
    *floor = (struct noise_floor){
        .variance = sd * sd, .degrees = sd > 0 ? FLOOR_DEGREES : 0, .usual = sd, .given = NAN};
}

void floor_add(struct noise_floor *floor, const double *logs, const double *variances,
               size_t points, size_t k)
{
    if (points == 0 || k < 2)
        return;
    double runs, rest, n = (double)points, df = (double)(k - 1);
    find_squares(&runs, &rest, logs, points, k);
    double together = runs / df / n, apart = rest / df / n;
    double degrees = satterthwaite(together, df, apart, df * (n - 1));
    double between = fmax(0, together + apart - mean_of(variances, points * k, 1));
    floor->variance =
        (floor->degrees * floor->variance + degrees * between) / (floor->degrees + degrees);
    floor->degrees += degrees;
    floor->repetitions += k;
}

static double share_of(size_t campaigns)
{
    return campaigns > 0 ? 1 / (double)campaigns : 0;
}

double floor_width(const struct noise_floor *floor, double level, size_t a, size_t b)
{
    double shares = share_of(a) + share_of(b);
    if (!isnan(floor->given))
        return floor->given * sqrt(shares / 2);
    if (!(floor->variance > 0))
        return 0;
    return student_quantile((1 + level) / 2, floor->degrees) * sqrt(shares * floor->variance);
}

size_t floor_campaigns(const struct noise_floor *floor, double level, double width)
{
    double share = floor_width(floor, level, 1, 1) / width;
    double n = ceil(share * share);
    return n >= 1 && n <= 100 ? (size_t)n : 0;
}
