#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "kernels/base/stats.h"

enum { N_MAX = 2000 };

/* Fills x with 1..n in scrambled order, so that values equal their ranks. */
static void fill_ranks(double x[N_MAX], size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(i % 2 ? n - i / 2 : 1 + i / 2);
}

static void mean_median_and_quantiles(void **state)
{
    const double x[] = {4, 1, 3, 2};
    assert_true(stats_median(x, 4) == 2.5);
    assert_true(stats_median(x, 3) == 3);
    assert_true(stats_median(x, 1) == 4);
    assert_true(stats_quantile(x, 4, 0) == 1);
    assert_true(stats_quantile(x, 4, 0.25) == 1.75);
    assert_true(stats_quantile(x, 4, 1) == 4);
    assert_true(x[0] == 4 && x[1] == 1 && x[2] == 3 && x[3] == 2);
}

/* By hand: of 5 values 3 are left; the outer two become 2 and 4. */
static void trimmed_means_leave_out_a_fifth(void **state)
{
    const double x[] = {100, 2, -7, 4, 3};
    struct location location = stats_trimmed(x, 5);
    assert_true(location.mean == 3);
    assert_true(fabs(location.variance - 4.0 / 6) < 1e-15);
    location = stats_trimmed(x, 4); /* 4 / 5 = 0 values trimmed */
    assert_true(location.mean == 24.75);
    location = stats_trimmed(x, 1);
    assert_true(location.mean == 100 && isnan(location.variance));
    assert_true(isnan(stats_trimmed(x, 0).mean));
}

static void undefined_values_are_nan(void **state)
{
    const double x[] = {1, NAN, 2};
    assert_true(isnan(stats_median(x, 0)));
    assert_true(isnan(stats_median(x, 3)));
    assert_true(isnan(stats_quantile(x, 1, 1.5)));
    assert_true(isnan(stats_quantile(x, 1, -0.5)));
    for (size_t n = 0; n <= 3; n += 3) {
        struct interval i = stats_median_interval(x, n, 0.95);
        assert_true(isnan(i.lo) && isnan(i.mid) && isnan(i.hi) && i.level == 0 && !i.met);
    }
}

/* Expected ranks from tables of the binomial distribution. */
static void interval_takes_the_tabulated_order_statistics(void **state)
{
    static const struct {
        size_t n, lo, hi;
        double level;
    } rows[] = {
        {6, 1, 6, 0.95},    {8, 1, 8, 0.95},   {9, 2, 8, 0.95},         {10, 2, 9, 0.95},
        {12, 3, 10, 0.95},  {15, 4, 12, 0.95}, {20, 6, 15, 0.95},       {30, 10, 21, 0.95},
        {50, 18, 33, 0.95}, {8, 1, 8, 0.99},   {2000, 956, 1045, 0.95},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        double x[N_MAX];
        fill_ranks(x, rows[r].n);
        struct interval i = stats_median_interval(x, rows[r].n, rows[r].level);
        assert_true(i.met && i.level >= rows[r].level && i.level < 1);
        assert_true(i.lo == (double)rows[r].lo);
        assert_true(i.hi == (double)rows[r].hi);
        assert_true(i.mid == (double)(rows[r].n + 1) / 2);
    }
}

/* Bound for a sum of n terms near 1 with a relative error of some n units in the last place
 * each. */
static double tolerance(size_t n)
{
    return 16.0 * (double)(n * n) * 0x1p-53;
}

static void interval_states_its_coverage(void **state)
{
    static const struct {
        size_t n;
        double level;
    } rows[] = {
        {1, 0},
        {2, 0.5},
        {5, 0.9375},
        {6, 0.96875},
        {9, 1 - 2 * 10 / 512.0},
        {10, 1 - 2 * 11 / 1024.0},
        {12, 1 - 2 * (1 + 12 + 66) / 4096.0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        double x[N_MAX];
        fill_ranks(x, rows[r].n);
        struct interval i = stats_median_interval(x, rows[r].n, 0.95);
        assert_true(fabs(i.level - rows[r].level) <= tolerance(rows[r].n));
    }
}

static void too_few_values_give_their_range_and_not_met(void **state)
{
    for (size_t n = 1; n <= 7; n++) {
        double x[N_MAX];
        fill_ranks(x, n);
        struct interval i = stats_median_interval(x, n, n < 6 ? 0.95 : 0.99);
        assert_false(i.met);
        assert_true(i.lo == 1 && i.hi == (double)n && i.mid == (double)(n + 1) / 2);
    }
}

static void relative_half_width_needs_two_values(void **state)
{
    const double x[] = {9, 11, 10, 10, 10, 10};
    struct interval one = stats_median_interval(x, 1, 0.95);
    struct interval two = stats_median_interval(x, 2, 0.95);
    struct interval six = stats_median_interval(x, 6, 0.95);
    struct interval none = stats_median_interval(x, 0, 0.95);
    assert_true(isnan(stats_relative_half_width(&none)));
    assert_true(isnan(stats_relative_half_width(&one)));
    assert_true(stats_relative_half_width(&two) == 0.1);
    assert_true(stats_relative_half_width(&six) == 0.1);
}

/* Powers of two and small integers: a fit of points on a line only has the rounding errors of its
 * means, a few per point. */
static void a_line_is_recovered(void **state)
{
    enum { N = 12 };
    double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = exp2(2 * i);
        y[i] = 3 + 0.5 * x[i];
    }
    struct line line = stats_fit_line(x, y, N);
    const double few = 8 * N * DBL_EPSILON;
    assert_true(fabs(line.intercept - 3) <= 3 * few * 0.5 * x[0] + few * 3);
    assert_true(fabs(line.slope - 0.5) <= few);
    assert_true(line.rms <= line.worst && line.worst <= few);
    for (int i = 0; i < N; i++)
        y[i] -= 3;
    line = stats_fit_slope(x, y, N);
    assert_true(line.intercept == 0 && fabs(line.slope - 0.5) <= few);
}

static double squares(double intercept, double slope, const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow((intercept + slope * x[i] - y[i]) / y[i], 2);
    return sum;
}

/* No other line nearby has smaller relative residuals. If the slope would be negative, the constant
 * is fitted: for 2, 1 and 1 it is (1/2 + 1 + 1) / (1/4 + 1 + 1). */
static void residuals_are_least(void **state)
{
    const double x[] = {1, 2, 5, 40}, y[] = {10, 14, 16, 90};
    struct line line = stats_fit_line(x, y, 4);
    double least = squares(line.intercept, line.slope, x, y, 4);
    assert_true(fabs(line.rms - sqrt(least / 4)) <= 1e-14);
    for (int i = -1; i <= 1; i++)
        for (int k = -1; k <= 1; k++)
            assert_true(least <=
                        squares(line.intercept + 0.01 * i, line.slope + 0.001 * k, x, y, 4));
    const double falling_x[] = {1, 2, 3}, falling_y[] = {2, 1, 1};
    line = stats_fit_line(falling_x, falling_y, 3);
    assert_true(line.slope == 0 && fabs(line.intercept - 2.5 / 2.25) <= 4 * DBL_EPSILON);
    assert_true(fabs(line.worst - (1 - line.intercept / 2)) <= 4 * DBL_EPSILON);
}

static void coefficients_are_not_negative(void **state)
{
    const double x[] = {1, 2, 4}, y[] = {1, 3, 7};
    struct line line = stats_fit_line(x, y, 3), slope = stats_fit_slope(x, y, 3);
    assert_true(line.intercept == 0 && line.slope == slope.slope && line.slope > 1);
}

static void undetermined_lines_are_nan(void **state)
{
    const double x[] = {1, 1, 0}, y[] = {1, 2, 0};
    assert_true(isnan(stats_fit_line(x, y, 0).slope) && isnan(stats_fit_line(x, y, 1).slope));
    assert_true(isnan(stats_fit_line(x, y, 2).slope)); /* all x equal */
    assert_true(isnan(stats_fit_line(x, y, 3).slope)); /* y = 0 */
    assert_true(isnan(stats_fit_slope(x, y, 0).slope));
    assert_true(isnan(stats_fit_slope(x + 2, y, 1).slope)); /* x = 0 */
}

/* Values of Pearson's table and sums by hand: 10 tosses, 8 heads or more: 56 / 1024. */
static void binomial_tails_are_exact(void **state)
{
    assert_true(fabs(stats_binomial_tail(10, 8, 0.5) - (56.0 / 1024)) < 1e-15);
    assert_true(fabs(stats_binomial_tail(6, 6, 0.5) - (1.0 / 64)) < 1e-15);
    assert_true(fabs(stats_binomial_tail(6, 4, 0.25) - (154.0 / 4096)) < 1e-15);
    assert_true(fabs(stats_binomial_tail(5, 1, 0.1) - (1 - pow(0.9, 5))) < 1e-15);
    assert_true(fabs(stats_binomial_tail(4000, 2001, 0.5) + stats_binomial_tail(4000, 2000, 0.5) -
                     1) < 1e-10);
    assert_true(stats_binomial_tail(3, 0, 0.2) == 1);
    assert_true(stats_binomial_tail(3, 4, 0.2) == 0);
    assert_true(stats_binomial_tail(3, 1, 0) == 0);
    assert_true(stats_binomial_tail(3, 3, 1) == 1);
    assert_true(isnan(stats_binomial_tail(3, 1, NAN)));
    assert_true(fabs(stats_favourite_tail(6, 6, 2) - (2.0 / 64)) < 1e-15);
    assert_true(stats_favourite_tail(6, 3, 2) == 1);
    assert_true(stats_favourite_tail(9, 9, 1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binomial_tails_are_exact),
        cmocka_unit_test(mean_median_and_quantiles),
        cmocka_unit_test(trimmed_means_leave_out_a_fifth),
        cmocka_unit_test(undefined_values_are_nan),
        cmocka_unit_test(interval_takes_the_tabulated_order_statistics),
        cmocka_unit_test(interval_states_its_coverage),
        cmocka_unit_test(too_few_values_give_their_range_and_not_met),
        cmocka_unit_test(relative_half_width_needs_two_values),
        cmocka_unit_test(a_line_is_recovered),
        cmocka_unit_test(residuals_are_least),
        cmocka_unit_test(coefficients_are_not_negative),
        cmocka_unit_test(undetermined_lines_are_nan),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
