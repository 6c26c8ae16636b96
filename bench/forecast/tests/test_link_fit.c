/* Coefficients that made step times are found again, beside outliers, and without points that are
 * left out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/forecast/link_fit.h"

enum { SAMPLES = 12 };

static const double made_by[LINK_COEFFICIENTS] = {3, 0.5, 2};

/* Makes samples whose steps have the coefficients `made_by`. */
static void make(struct link_sample samples[SAMPLES])
{
    for (int i = 0; i < SAMPLES; i++) {
        struct link_sample *s = &samples[i];
        *s = (struct link_sample){.rest_ms = 10 + i, .slopes = {1 + i % 3, 2 + i % 5, 1 + i % 4}};
        s->measured_ms = s->rest_ms;
        for (int k = 0; k < LINK_COEFFICIENTS; k++)
            s->measured_ms += s->slopes[k] * made_by[k];
    }
}

static void assert_found(const struct link_sample *samples, double tolerance)
{
    double at[LINK_COEFFICIENTS] = {1, 1, 1};
    assert_true(link_fit(at, samples, SAMPLES));
    for (int k = 0; k < LINK_COEFFICIENTS; k++)
        if (!(fabs(at[k] - made_by[k]) <= tolerance))
            fail_msg("coefficient %d: %g, expected %g", k, at[k], made_by[k]);
}

static void coefficients_are_found(void **state)
{
    (void)state;
    struct link_sample samples[SAMPLES];
    make(samples);
    assert_found(samples, 1e-3);
}

/* The smallest sum of absolute errors ignores how far an outlier is away. */
static void outliers_do_not_count(void **state)
{
    (void)state;
    struct link_sample samples[SAMPLES];
    make(samples);
    samples[4].measured_ms *= 3;
    assert_found(samples, 0.05);
}

static void left_out_samples_do_not_count(void **state)
{
    (void)state;
    struct link_sample samples[SAMPLES];
    make(samples);
    for (int i = 0; i < SAMPLES; i += 2) {
        samples[i].measured_ms *= 5;
        samples[i].left_out = true;
    }
    assert_found(samples, 1e-3);
}

/* Messages that would have to be faster than none have coefficients of 0. */
static void coefficients_are_not_negative(void **state)
{
    (void)state;
    struct link_sample samples[SAMPLES];
    double at[LINK_COEFFICIENTS] = {1, 1, 1};
    make(samples);
    for (int i = 0; i < SAMPLES; i++)
        samples[i].measured_ms = samples[i].rest_ms / 2;
    assert_true(link_fit(at, samples, SAMPLES));
    for (int k = 0; k < LINK_COEFFICIENTS; k++)
        assert_true(at[k] == 0);
}

static void too_few_samples_are_refused(void **state)
{
    (void)state;
    struct link_sample samples[SAMPLES];
    double at[LINK_COEFFICIENTS] = {1, 1, 1};
    make(samples);
    assert_false(link_fit(at, samples, LINK_COEFFICIENTS));
    assert_true(link_fit(at, samples, LINK_COEFFICIENTS + 1));
}

/* A link without sums keeps the assumed time of a sum. */
static void a_coefficient_without_influence_stays(void **state)
{
    (void)state;
    struct link_sample samples[SAMPLES];
    double at[LINK_COEFFICIENTS] = {1, 1, 1};
    make(samples);
    for (int i = 0; i < SAMPLES; i++) {
        samples[i].measured_ms -= samples[i].slopes[LINK_GAMMA] * made_by[LINK_GAMMA];
        samples[i].slopes[LINK_GAMMA] = 0;
    }
    assert_true(link_fit(at, samples, SAMPLES));
    assert_true(at[LINK_GAMMA] == 1);
    assert_true(fabs(at[LINK_ALPHA] - made_by[LINK_ALPHA]) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_found),
        cmocka_unit_test(outliers_do_not_count),
        cmocka_unit_test(left_out_samples_do_not_count),
        cmocka_unit_test(coefficients_are_not_negative),
        cmocka_unit_test(too_few_samples_are_refused),
        cmocka_unit_test(a_coefficient_without_influence_stays),
    };
    return cmocka_run_group_tests_name("link_fit", tests, NULL, NULL);
}
