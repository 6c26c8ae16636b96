/* Tests of fitted laws of speed-up: exact curves, bounds of parameters, least squares, and how
 * often intervals contain the true value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "bench/base/scaling_intervals.h"
#include "kernels/base/rng.h"

enum { POINTS = 5, BLOCKS_MOST = 20 };
static const double processors[POINTS] = {2, 4, 8, 16, 32};

static void make_points(struct scaling_point points[POINTS], enum scaling_law law, double sigma,
                        double kappa)
{
    const struct scaling_fit truth = {.sigma = sigma, .kappa = kappa};
    for (int i = 0; i < POINTS; i++)
        points[i] =
            (struct scaling_point){processors[i], scaling_speedup(law, &truth, processors[i])};
}

static void speedups_follow_the_formulas(void **state)
{
    const struct scaling_fit fit = {.sigma = 0.1, .kappa = 0.01};
    assert_float_equal(scaling_speedup(LAW_amdahl, &fit, 10), 1 / (0.1 + 0.9 / 10), 1e-12);
    assert_float_equal(scaling_speedup(LAW_gustafson, &fit, 10), 0.1 + 0.9 * 10, 1e-12);
    assert_float_equal(scaling_speedup(LAW_usl, &fit, 10), 10 / (1 + 0.9 + 0.9), 1e-12);
    for (int law = 0; law < LAWS; law++)
        assert_float_equal(scaling_speedup(law, &fit, 1), 1, 1e-12);
}

static void exact_curves_give_their_parameters(void **state)
{
    static const struct {
        enum scaling_law law;
        double sigma, kappa, limit, limit_p;
    } curves[] = {
        {LAW_amdahl, 0.05, NAN, 20, INFINITY},     {LAW_amdahl, 0, NAN, INFINITY, INFINITY},
        {LAW_amdahl, 1, NAN, 1, INFINITY},         {LAW_gustafson, 0.3, NAN, INFINITY, INFINITY},
        {LAW_usl, 0.04, 0.0015, 8.74167, 25.2982}, /* sqrt(0.96 / 0.0015) processors */
        {LAW_usl, 0.04, 0, 25, INFINITY},          {LAW_usl, 0, 0.01, 5.26316, 10},
        {LAW_usl, 1e-5, 1e-8, 4762.15, 9999.95},
    };
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        struct scaling_point points[POINTS];
        make_points(points, curves[i].law, curves[i].sigma, curves[i].kappa);
        struct scaling_fit fit = scaling_fit(curves[i].law, points, POINTS);
        assert_float_equal(fit.sigma, curves[i].sigma, 1e-9);
        assert_true(isnan(curves[i].kappa) ? isnan(fit.kappa)
                                           : fabs(fit.kappa - curves[i].kappa) < 1e-9);
        assert_true(fit.residual < 1e-9);
        if (isinf(curves[i].limit_p) && curves[i].kappa == 0)
            continue; /* rounding may leave a kappa of 1e-17 */
        assert_true(isinf(curves[i].limit) ? isinf(fit.limit) || fit.limit > 1e9
                                           : fabs(fit.limit / curves[i].limit - 1) < 1e-4);
        assert_true(isinf(curves[i].limit_p) ? isinf(fit.limit_p)
                                             : fabs(fit.limit_p / curves[i].limit_p - 1) < 1e-4);
    }
}

static void parameters_stay_in_their_ranges(void **state)
{
    struct scaling_point points[POINTS];
    for (int law = 0; law < LAWS; law++) {
        for (int i = 0; i < POINTS; i++) /* faster than ideal */
            points[i] = (struct scaling_point){processors[i], 1.2 * processors[i]};
        struct scaling_fit fit = scaling_fit(law, points, POINTS);
        assert_true(fit.sigma == 0 && !(fit.kappa > 0) && isinf(fit.limit));
        assert_float_equal(fit.residual, log(1.2), 1e-9);
        for (int i = 0; i < POINTS; i++) /* slower than the base */
            points[i].speedup = 0.5;
        fit = scaling_fit(law, points, POINTS);
        assert_float_equal(fit.sigma, 1, 0);
        assert_true(fit.limit == 1 && fit.residual > 0.2);
    }
}

static void unusable_points_give_no_fit(void **state)
{
    const struct scaling_point one = {2, 1.8}, bad[] = {{2, 1.8}, {4, NAN}, {8, 0}, {1, 1}};
    assert_true(isnan(scaling_fit(LAW_usl, &one, 1).sigma));
    assert_false(isnan(scaling_fit(LAW_amdahl, &one, 1).sigma));
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++)
        assert_true(isnan(scaling_fit(LAW_amdahl, &bad[i], 1).sigma));
}

/* ---- Noise ---- */

static double normal(uint64_t seed, uint32_t block, uint32_t point)
{
    uint32_t words[4];
    rng_words4(words, seed, RNG_STREAM(RNG_SCHEDULE, 2), 0, block, point);
    return sqrt(-2 * log(1 - rng_unit(words[0]))) * cos(6.283185307179586 * rng_unit(words[1]));
}

static double sum_of_squares(enum scaling_law law, double sigma, double kappa,
                             const struct scaling_point points[POINTS])
{
    const struct scaling_fit fit = {.sigma = sigma, .kappa = kappa};
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += pow(log(points[i].speedup / scaling_speedup(law, &fit, points[i].p)), 2);
    return sum;
}

/* No neighbour within the ranges of the parameters has a smaller sum of squares. */
static void fits_are_least_squares(void **state)
{
    static const double sigmas[] = {0, 0.002, 0.1, 0.7}, kappas[] = {0, 1e-4, 0.01};
    for (int i = 0; i < 300; i++) {
        enum scaling_law law = (enum scaling_law)(i % LAWS);
        struct scaling_point points[POINTS];
        make_points(points, law, sigmas[i / 3 % 4], kappas[i / 12 % 3]);
        for (uint32_t k = 0; k < POINTS; k++)
            points[k].speedup *= exp(0.2 * normal((uint64_t)i, 0, k));
        struct scaling_fit fit = scaling_fit(law, points, POINTS);
        double least = sum_of_squares(law, fit.sigma, fit.kappa, points);
        for (int step = 0; step < 8; step++) {
            double angle = 0.785398163 * step;
            double sigma = fit.sigma + 1e-4 * cos(angle), kappa = fit.kappa + 1e-6 * sin(angle);
            if (sigma >= 0 && sigma <= 1 && !(kappa < 0))
                assert_true(sum_of_squares(law, sigma, kappa, points) >= least * (1 - 1e-9));
        }
    }
}

struct noisy_curve {
    struct scaling_pair pairs[POINTS][BLOCKS_MOST];
    struct scaling_sample samples[POINTS];
};

/* Makes a curve whose launches have lognormal noise: the base's launch of a block is in the ratios
 * of all points. */
static void make_noisy(struct noisy_curve *curve, enum scaling_law law, double sigma, double kappa,
                       size_t blocks, uint64_t seed)
{
    struct scaling_point points[POINTS];
    make_points(points, law, sigma, kappa);
    for (uint32_t i = 0; i < POINTS; i++) {
        double ratios[BLOCKS_MOST];
        for (uint32_t b = 0; b < blocks; b++) {
            ratios[b] =
                points[i].speedup * exp(0.03 * (normal(seed, b, POINTS) - normal(seed, b, i)));
            curve->pairs[i][b] = (struct scaling_pair){ratios[b], (int)b};
        }
        curve->samples[i] = (struct scaling_sample){processors[i], stats_median(ratios, blocks),
                                                    curve->pairs[i], blocks};
    }
}

static bool contains(const struct interval *i, double x)
{
    return i->lo <= x && x <= i->hi && i->lo <= i->mid && i->mid <= i->hi;
}

/* The share of intervals with the true value may differ from 95 % by three standard errors of 300
 * curves, 3.8 %. Discrete medians of few launches make intervals a little wide. */
static void intervals_contain_the_truth(void **state)
{
    static const struct {
        enum scaling_law law;
        double sigma, kappa, limit;
        size_t blocks;
    } rows[] = {{LAW_amdahl, 0.05, NAN, 20, 6},
                {LAW_amdahl, 0.3, NAN, 1 / 0.3, 12},
                {LAW_gustafson, 0.2, NAN, INFINITY, 6},
                {LAW_usl, 0.04, 0.0015, 8.74167, 6},
                {LAW_usl, 0.04, 0.0015, 8.74167, 20}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int sigma = 0, kappa = 0, limit = 0;
        for (uint64_t seed = 0; seed < 300; seed++) {
            struct noisy_curve curve;
            struct scaling_intervals fitted;
            struct error e;
            make_noisy(&curve, rows[r].law, rows[r].sigma, rows[r].kappa, rows[r].blocks,
                       1000 * (r + 1) + seed);
            assert_int_equal(scaling_intervals(&fitted, rows[r].law, curve.samples, POINTS, &e),
                             OK);
            sigma += contains(&fitted.sigma, rows[r].sigma);
            kappa += isnan(rows[r].kappa) || contains(&fitted.kappa, rows[r].kappa);
            limit += contains(&fitted.limit, rows[r].limit);
        }
        assert_in_range(sigma, 0.912 * 300, 0.988 * 300);
        assert_in_range(kappa, 0.912 * 300, isnan(rows[r].kappa) ? 300 : 0.988 * 300);
        assert_in_range(limit, 0.912 * 300, 300);
    }
}

/* If kappa may be 0, points cannot show a maximum: the upper bound then follows from contention
 * alone. */
static void limits_have_no_bound_that_kappa_does_not_give(void **state)
{
    int contained = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct noisy_curve curve;
        struct scaling_intervals fitted;
        struct error e;
        make_noisy(&curve, LAW_usl, 0.05, 0, 6, seed);
        assert_int_equal(scaling_intervals(&fitted, LAW_usl, curve.samples, POINTS, &e), OK);
        assert_true(fitted.kappa.lo > 0 || fitted.limit.hi >= 1 / fitted.sigma.lo);
        assert_true(fitted.kappa.lo > 0 || isinf(fitted.limit_p.hi));
        contained += contains(&fitted.limit, 20);
    }
    assert_in_range(contained, 91, 100);
}

/* A point without one block, another order of pairs, and a second call. */
static void resamples_depend_on_blocks_alone(void **state)
{
    struct noisy_curve curve, turned;
    struct scaling_intervals first, second;
    struct error e;
    make_noisy(&curve, LAW_usl, 0.04, 0.0015, 8, 1);
    curve.samples[2].n = 7;
    turned = curve;
    for (int i = 0; i < POINTS; i++) {
        turned.samples[i].pairs = turned.pairs[i];
        struct scaling_pair last = turned.pairs[i][0];
        turned.pairs[i][0] = turned.pairs[i][5];
        turned.pairs[i][5] = last;
    }
    assert_int_equal(scaling_intervals(&first, LAW_usl, curve.samples, POINTS, &e), OK);
    assert_int_equal(scaling_intervals(&second, LAW_usl, turned.samples, POINTS, &e), OK);
    assert_memory_equal(&first.sigma, &second.sigma, 3 * sizeof(double));
    assert_memory_equal(&first.limit, &second.limit, 3 * sizeof(double));
    assert_true(first.sigma.lo < first.sigma.hi);
}

static void few_launches_have_no_interval(void **state)
{
    struct noisy_curve curve;
    struct scaling_intervals fitted;
    struct error e;
    make_noisy(&curve, LAW_amdahl, 0.05, NAN, 6, 1);
    curve.samples[1].n = 5;
    assert_int_equal(scaling_intervals(&fitted, LAW_amdahl, curve.samples, POINTS, &e), OK);
    assert_true(isfinite(fitted.sigma.mid) && isnan(fitted.sigma.lo) && isnan(fitted.limit.hi));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speedups_follow_the_formulas),
        cmocka_unit_test(exact_curves_give_their_parameters),
        cmocka_unit_test(parameters_stay_in_their_ranges),
        cmocka_unit_test(unusable_points_give_no_fit),
        cmocka_unit_test(fits_are_least_squares),
        cmocka_unit_test(intervals_contain_the_truth),
        cmocka_unit_test(limits_have_no_bound_that_kappa_does_not_give),
        cmocka_unit_test(resamples_depend_on_blocks_alone),
        cmocka_unit_test(few_launches_have_no_interval),
    };
    return cmocka_run_group_tests_name("laws of speed-up", tests, NULL, NULL);
}
