#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "bench/base/two_samples.h"
#include "kernels/base/rng.h"

/* Two-sided critical values of Mann and Whitney's U as printed in statistics books: the largest
 * significant U. */
static void rank_sums_are_those_of_the_tables(void **state)
{
    static const struct {
        size_t n, m;
        double alpha;
        size_t significant;
    } rows[] = {
        {4, 4, 0.05, 0},    {5, 5, 0.05, 2},     {6, 6, 0.05, 5},    {6, 12, 0.05, 14},
        {8, 8, 0.05, 13},   {10, 10, 0.05, 23},  {12, 12, 0.05, 37}, {15, 15, 0.05, 64},
        {5, 20, 0.05, 20},  {20, 20, 0.05, 127}, {6, 6, 0.01, 2},    {8, 8, 0.01, 7},
        {12, 12, 0.01, 27}, {20, 20, 0.01, 105},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double probability;
        size_t found = rank_sum_critical(rows[r].n, rows[r].m, rows[r].alpha / 2, &probability);
        assert_int_equal(found, rows[r].significant + 1);
        assert_true(probability <= rows[r].alpha / 2);
        assert_int_equal(rank_sum_critical(rows[r].m, rows[r].n, rows[r].alpha / 2, &probability),
                         found);
    }
}

/* Counted and normal distribution meet without a jump: the second differences of critical values
 * stay small across the border. */
static void large_samples_go_on_by_the_normal_distribution(void **state)
{
    double c[4], probability;
    for (size_t i = 0; i < 4; i++) {
        c[i] = (double)rank_sum_critical(26 + i, 26 + i, 0.0125, &probability);
        assert_true(probability <= 0.0125 && probability > 0.0115);
    }
    assert_true(fabs((c[3] - c[2]) - 2 * (c[2] - c[1]) + (c[1] - c[0])) <= 2);
    assert_int_equal(rank_sum_critical(200, 20, 0.025, &probability),
                     rank_sum_critical(20, 200, 0.025, &probability));
}

static void small_samples_reach_no_high_level(void **state)
{
    const double x[] = {1, 2, 3}, y[] = {11, 12, 13};
    struct interval i = two_samples_shift(x, 3, y, 3, 0.95);
    assert_false(i.met);
    assert_true(fabs(i.level - 0.9) < 1e-12); /* 2 of the 20 orders are outside the interval */
    assert_true(i.lo == 8 && i.mid == 10 && i.hi == 12);
    i = two_samples_shift(x, 3, y, 3, 0.9);
    assert_true(i.met && i.lo == 8 && i.hi == 12);
    assert_int_equal(samples_needed(0.95, true), 4);   /* 1 - 2/70 >= 0.95 */
    assert_int_equal(samples_needed(0.95, false), 6);  /* 1 - 2/64 >= 0.95 */
    assert_int_equal(samples_needed(0.9975, true), 6); /* 1 - 2/924 >= 0.9975 */
    assert_true(isnan(two_samples_shift(x, 3, y, 0, 0.9).mid));
    const double torn[] = {1, NAN};
    assert_true(isnan(two_samples_shift(x, 3, torn, 2, 0.9).lo));
}

/* Worked out by hand: the differences of {0, 1, 4, 9} and {2, 3, 5, 7} in order are -7 -6 -4 -2 -2
 * -1 1 1 2 2 3 3 4 5 6 7. With four values each, the outermost differences give 97.1 %, the second
 * 94.3 %. */
static void a_shift_is_what_the_differences_say(void **state)
{
    const double x[] = {9, 1, 0, 4}, y[] = {2, 7, 3, 5};
    struct interval i = two_samples_shift(x, 4, y, 4, 0.95);
    assert_true(i.met && i.lo == -7 && i.hi == 7 && i.mid == 1.5);
    assert_true(fabs(i.level - (1 - 2.0 / 70)) < 1e-12);
    i = two_samples_shift(x, 4, y, 4, 0.94);
    assert_true(i.lo == -6 && i.hi == 6 && fabs(i.level - (1 - 4.0 / 70)) < 1e-12);
    i = one_sample_shift(2, y, 4, 0.8);
    assert_true(i.lo == 0 && i.mid == 2 && i.hi == 5);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compares with the sorted list of all differences, including ties, negative values and zeros. */
static void a_shift_is_one_of_all_differences(void **state)
{
    enum { N = 13, M = 22 };
    double x[N], y[M], all[N * M];
    for (uint32_t trial = 0; trial < 200; trial++) {
        size_t n = 1 + trial % N, m = 1 + trial * 7 % M;
        double steps = trial % 3 == 0 ? 4 : 1e6;
        for (uint32_t k = 0; k < n + m; k++)
            *(k < n ? &x[k] : &y[k - n]) =
                rint(steps * rng_unit(rng_word(3, RNG_STREAM(RNG_SCHEDULE, 1), trial, k, 0))) /
                    steps -
                0.5;
        for (size_t k = 0; k < n * m; k++)
            all[k] = y[k % m] - x[k / m];
        qsort(all, n * m, sizeof *all, by_size);
        struct interval i = two_samples_shift(x, n, y, m, 0.9);
        double tail;
        size_t from_end = rank_sum_critical(n, m, 0.05, &tail);
        from_end = from_end > 0 ? from_end : 1;
        assert_true(i.lo == all[from_end - 1] && i.hi == all[n * m - from_end]);
        assert_true(i.mid == stats_median(all, n * m));
    }
}

/* Ten thousand launches each; a matrix of differences would need 800 MB. */
static void large_samples_take_no_matrix(void **state)
{
    enum { N = 10000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_true(x != NULL && y != NULL);
    for (uint32_t k = 0; k < N; k++) {
        x[k] = rng_unit(rng_word(5, RNG_STREAM(RNG_SCHEDULE, 1), 0, k, 0));
        y[k] = rng_unit(rng_word(5, RNG_STREAM(RNG_SCHEDULE, 1), 1, k, 0)) + 0.25;
    }
    struct interval i = two_samples_shift(x, N, y, N, 0.95);
    assert_true(i.met && i.lo > 0.23 && i.lo < i.mid && i.mid < i.hi && i.hi < 0.27);
    free(x);
    free(y);
}

/* Quantiles of printed tables, and the closed forms for 1 and 2 degrees of freedom. */
static void students_quantiles_are_those_of_the_tables(void **state)
{
    static const struct {
        double p, df, t;
    } rows[] = {
        {0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 5, 2.571},     {0.975, 10, 2.228},
        {0.975, 30, 2.042}, {0.995, 3, 5.841}, {0.995, 120, 2.617},   {0.95, 7, 1.895},
        {0.9995, 4, 8.610}, {0.9, 20, 1.325},  {0.975, 1e6, 1.95997},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        assert_true(fabs(student_quantile(rows[r].p, rows[r].df) - rows[r].t) < 6e-4);
        assert_true(student_quantile(1 - rows[r].p, rows[r].df) ==
                    -student_quantile(1 - (1 - rows[r].p), rows[r].df));
    }
    for (double p = 0.55; p < 0.9999; p += 0.013) {
        double cauchy = tan(M_PI * (p - 0.5)), two = (2 * p - 1) / sqrt(2 * p * (1 - p));
        assert_true(fabs(student_quantile(p, 1) / cauchy - 1) < 1e-10);
        assert_true(fabs(student_quantile(p, 2) / two - 1) < 1e-10);
    }
    assert_true(fabs(student_quantile(0.5, 3)) < 1e-12);
    assert_true(student_quantile(0.975, 1.5) < 12.706 && student_quantile(0.975, 1.5) > 4.303);
    assert_true(isnan(student_quantile(1, 3)) && isnan(student_quantile(0.5, 0)));
}

/* Coverage of intervals for skewed noise and unequal sizes equals the stated level within 4
 * standard errors. */
static void intervals_cover_as_often_as_they_say(void **state)
{
    enum { TRIALS = 20000 };
    const size_t n = 6, m = 9;
    size_t covered = 0;
    double level = 0;
    for (uint32_t t = 0; t < TRIALS; t++) {
        double x[6], y[9];
        for (uint32_t k = 0; k < n + m; k++) {
            double unit = rng_unit(rng_word(7, RNG_STREAM(RNG_SCHEDULE, 1), t, k, 0));
            *(k < n ? &x[k] : &y[k - n]) = -log1p(-unit) + (k < n ? 0 : 0.25);
        }
        struct interval i = two_samples_shift(x, n, y, m, 0.95);
        covered += i.lo <= 0.25 && i.hi >= 0.25;
        level = i.level;
    }
    assert_true(level >= 0.95 && level < 0.96);
    double error = sqrt(level * (1 - level) / TRIALS);
    assert_true(fabs((double)covered / TRIALS - level) < 4 * error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_sums_are_those_of_the_tables),
        cmocka_unit_test(large_samples_go_on_by_the_normal_distribution),
        cmocka_unit_test(small_samples_reach_no_high_level),
        cmocka_unit_test(a_shift_is_what_the_differences_say),
        cmocka_unit_test(a_shift_is_one_of_all_differences),
        cmocka_unit_test(large_samples_take_no_matrix),
        cmocka_unit_test(students_quantiles_are_those_of_the_tables),
        cmocka_unit_test(intervals_cover_as_often_as_they_say),
    };
    return cmocka_run_group_tests_name("two samples", tests, NULL, NULL);
}
