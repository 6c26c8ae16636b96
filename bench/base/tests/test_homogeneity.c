/* Tests of outliers, modes and trends: power on samples that have them, error rate on samples
 * without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "bench/base/homogeneity.h"
#include "kernels/base/rng.h"

static const size_t sizes[] = {6, 7, 9, 12, 16, 20};
enum { SIZES = sizeof sizes / sizeof *sizes, DRAWN_MAX = 20, TRIALS_MAX = 10000, N_MAX = 256 };

/* Returns a normal value of standard deviation 1, a pure function of its arguments. */
static double normal(uint32_t trial, uint32_t k)
{
    double u = rng_unit(rng_word(3, RNG_STREAM(RNG_SCHEDULE, 1), trial, k, 0));
    double v = rng_unit(rng_word(3, RNG_STREAM(RNG_SCHEDULE, 1), trial, k, 1));
    return sqrt(-2 * log1p(-u)) * cos(2 * M_PI * v);
}

/* Normal values [trial], shared by all sizes and kinds of noise. */
static double (*normals)[DRAWN_MAX];

static int draw_normals(void **state)
{
    normals = malloc(TRIALS_MAX * sizeof *normals);
    for (uint32_t t = 0; normals != NULL && t < TRIALS_MAX; t++)
        for (uint32_t k = 0; k < DRAWN_MAX; k++)
            normals[t][k] = normal(t, k);
    return normals != NULL ? 0 : -1;
}

static int free_normals(void **state)
{
    free(normals);
    return 0;
}

/* Draws n values of about 10 with relative noise of `sigma`, normal or log-normal. */
static void draw(double *x, size_t n, uint32_t trial, double sigma, bool logarithmic)
{
    assert_true(n <= DRAWN_MAX && trial < TRIALS_MAX);
    for (size_t k = 0; k < n; k++) {
        double z = sigma * normals[trial][k];
        x[k] = 10 * (logarithmic ? exp(z) : 1 + z);
    }
}

/* Asserts that counted / trials exceeds `allowed` by at most 3 standard errors. */
static void assert_share(const char *what, size_t n, size_t counted, size_t trials, double allowed)
{
    double p = (double)counted / (double)trials;
    if (p > allowed + 3 * sqrt(allowed * (1 - allowed) / (double)trials))
        fail_msg("%s at n = %zu: %.2f %% of samples, at most %.2f %% allowed", what, n, 100 * p,
                 100 * allowed);
}

static void one_kind_of_noise_has_one_mode(void **state)
{
    enum { TRIALS = TRIALS_MAX };
    for (size_t s = 0; s < SIZES; s++)
        for (int form = 0; form < 4; form++) {
            size_t two = 0;
            for (uint32_t t = 0; t < TRIALS; t++) {
                double x[N_MAX];
                draw(x, sizes[s], t, form & 1 ? 0.08 : 0.01, form & 2);
                two += homogeneity_modes(x, sizes[s], 0) == 2;
            }
            assert_share("two modes", sizes[s], two, TRIALS, 0.01);
        }
}

static void one_kind_of_noise_has_few_outliers(void **state)
{
    enum { TRIALS = 3000 };
    for (size_t s = 0; s < SIZES; s++)
        for (int form = 0; form < 4; form++) {
            size_t any = 0;
            for (uint32_t t = 0; t < TRIALS; t++) {
                double x[N_MAX];
                draw(x, sizes[s], t, form & 1 ? 0.08 : 0.01, form & 2);
                any += homogeneity_outliers(NULL, x, sizes[s], 0.01, 0) > 0;
            }
            assert_share("outliers", sizes[s], any, TRIALS, 0.01);
        }
}

static void two_modes_are_found(void **state)
{
    double x[N_MAX];
    for (size_t s = 0; s < SIZES; s++) {
        size_t found = 0;
        for (uint32_t t = 0; t < 200; t++) {
            draw(x, sizes[s], t, 0.01, false);
            for (size_t k = 0; k < sizes[s]; k += 3)
                x[k] *= 1.2;
            found += homogeneity_modes(x, sizes[s], 0.01) == 2;
        }
        assert_in_range(found, 198, 200);
    }
    /* Two groups whose distance is large compared with the noise, but below 1 %. */
    const double near[] = {10, 10.0001, 10.0001, 10.0101, 10.0101, 10.0102};
    assert_int_equal(homogeneity_modes(near, 6, 0), 2);
    assert_int_equal(homogeneity_modes(near, 6, 0.01), 1);
    /* A group of one value is an outlier, not a mode. */
    const double alone[] = {10, 10.1, 10.2, 10.3, 10.4, 15};
    assert_int_equal(homogeneity_modes(alone, 6, 0.01), 1);
    const double same[] = {10, 10, 10, 10, 10, 10}, pairs[] = {10, 10, 10, 12, 12, 12};
    assert_int_equal(homogeneity_modes(same, 6, 0), 1);
    assert_int_equal(homogeneity_modes(pairs, 6, 0.01), 2);
    assert_int_equal(homogeneity_modes(pairs, 5, 0.01), 1);
    const double torn[] = {10, 10, NAN, 12, 12, 12};
    assert_int_equal(homogeneity_modes(torn, 6, 0.01), 1);
}

static void outliers_are_found(void **state)
{
    const double one[] = {10, 10.1, 9.9, 10.05, 13, 10, 9.95, 10.02};
    const double two[] = {10, 10.1, 9.9, 10.05, 13, 10, 7, 10.02, 10, 9.93, 10.04, 10.08};
    bool outside[12];
    assert_int_equal(homogeneity_outliers(outside, one, 8, 0.01, 0.01), 1);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(outside[i], i == 4);
    assert_int_equal(homogeneity_outliers(outside, two, 12, 0.01, 0.01), 2);
    assert_true(outside[4] && outside[6]);
    assert_int_equal(homogeneity_outliers(NULL, one, 8, 0.01, 0.5), 0);
    assert_int_equal(homogeneity_outliers(NULL, one, 5, 0.01, 0), 0);
    const double same[] = {10, 10, 10, 10, 10, 10}, torn[] = {10, 10, 0, 10, 10, 10};
    assert_int_equal(homogeneity_outliers(NULL, same, 6, 0.01, 0), 0);
    assert_int_equal(homogeneity_outliers(NULL, torn, 6, 0.01, 0), 0);
}

static void a_trend_has_a_size(void **state)
{
    double x[N_MAX];
    for (size_t k = 0; k < N_MAX; k++)
        x[k] = 10 - 0.01 * (double)k;
    struct trend t = homogeneity_trend(x, 5);
    assert_true(t.tau == -1 && fabs(t.change + 0.04 / 9.98) < 1e-12);
    t = homogeneity_trend(x, 200); /* medians of 64 blocks omit 1/64 of the range */
    assert_true(t.tau == -1 && t.change < -1.9 / 9 && t.change > -2.01 / 9);
    x[3] = 1000; /* one outlier leaves the trend as it is */
    t = homogeneity_trend(x, 200);
    assert_true(t.tau < -0.9 && t.change < -1.9 / 9 && t.change > -2.01 / 9);
    assert_true(isnan(homogeneity_trend(x, 3).tau) && isnan(homogeneity_trend(x, 0).change));
    x[2] = NAN;
    assert_true(isnan(homogeneity_trend(x, 5).tau));
}

/* The correlations of launches are the sample, so noise shared by neighbouring steps yields no
 * trend. */
static void noise_makes_no_trend(void **state)
{
    enum { TRIALS = 3000, LAUNCHES = 6, STEPS = 30 };
    size_t any[2] = {0};
    for (uint32_t t = 0; t < TRIALS; t++) {
        double taus[2][LAUNCHES], alone[STEPS], shared[STEPS];
        for (uint32_t l = 0; l < LAUNCHES; l++) {
            double walk = 0;
            for (uint32_t k = 0; k < STEPS; k++) {
                double z = normal(t, l * STEPS + k);
                walk = 0.8 * walk + z;
                alone[k] = 10 + 0.1 * z;
                shared[k] = 10 + 0.1 * walk;
            }
            taus[0][l] = homogeneity_trend(alone, STEPS).tau;
            taus[1][l] = homogeneity_trend(shared, STEPS).tau;
        }
        for (int i = 0; i < 2; i++)
            any[i] += homogeneity_mean_differs(taus[i], LAUNCHES, 0.05);
    }
    for (int i = 0; i < 2; i++)
        assert_share("a trend", LAUNCHES, any[i], TRIALS, 0.05);
    const double clear[] = {-0.5, -0.6, -0.4}, few[] = {-0.5, -0.6}, equal[] = {0.5, 0.5, 0.5};
    assert_true(homogeneity_mean_differs(clear, 3, 0.05));
    assert_false(homogeneity_mean_differs(few, 2, 0.05));
    assert_true(homogeneity_mean_differs(equal, 3, 1e-9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kind_of_noise_has_one_mode),
        cmocka_unit_test(one_kind_of_noise_has_few_outliers),
        cmocka_unit_test(two_modes_are_found),
        cmocka_unit_test(outliers_are_found),
        cmocka_unit_test(a_trend_has_a_size),
        cmocka_unit_test(noise_makes_no_trend),
    };
    return cmocka_run_group_tests_name("homogeneity", tests, draw_normals, free_normals);
}
