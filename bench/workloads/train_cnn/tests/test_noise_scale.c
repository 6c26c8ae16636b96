/* Tests the estimator of the noise scale on gradients whose mean and variance are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/workloads/train_cnn/parts/noise_scale.h"

enum { NUMBERS = 3, IMAGES_MAX = 8 };

/* Gradient over all images, and standard deviation of each number: |G|^2 = 6.5625, S = 5.5. */
static const double mean[NUMBERS] = {0.25, -1.5, 2.0625}, deviation[NUMBERS] = {0.5, 1.5, 1.75};

static double square(double x)
{
    return x * x;
}

static double norm2_of(const double x[NUMBERS])
{
    double sum = 0;
    for (int k = 0; k < NUMBERS; k++)
        sum += square(x[k]);
    return sum;
}

static double variance(void)
{
    return norm2_of(deviation);
}

/* Returns the squared norm of the mean gradient of images [first, last). Bit i of `signs` is the
 * sign of the deviation of image i. */
static double mean_norm2(unsigned signs, int first, int last)
{
    double sum[NUMBERS] = {0};
    for (int i = first; i < last; i++)
        for (int k = 0; k < NUMBERS; k++)
            sum[k] += (mean[k] + (signs >> i & 1 ? deviation[k] : -deviation[k])) / (last - first);
    return norm2_of(sum);
}

/* Adds one step per combination of signs. The means over these steps are the expectations. */
static struct noise_sums sums_of(const int *images, int ranks)
{
    struct noise_sums sums = {0};
    int all = 0;
    for (int r = 0; r < ranks; r++)
        all += images[r];
    for (unsigned signs = 0; signs < 1U << all; signs++)
        for (int r = 0, first = 0; r < ranks; first += images[r++])
            noise_add(&sums, images[r] > 0 ? mean_norm2(signs, first, first + images[r]) : NAN,
                      images[r], mean_norm2(signs, 0, all), all);
    return sums;
}

static void known_gradients_are_found(void **state)
{
    static const int batches[][4] = {{1, 1}, {2, 2}, {4, 4}, {1, 1, 1, 1}, {2, 2, 2, 2}};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const struct noise_sums sums = sums_of(batches[i], i < 3 ? 2 : 4);
        const struct noise_estimate found = noise_estimate(&sums);
        assert_true(fabs(found.norm2 - norm2_of(mean)) < 1e-11);
        assert_true(fabs(found.variance - variance()) < 1e-11);
    }
}

/* Batches of ranks may differ, and a rank may have no image. */
static void unequal_batches_have_no_bias(void **state)
{
    static const int batches[][4] = {{1, 2}, {1, 3, 4}, {3, 3, 2}, {2, 2, 2, 1}, {3, 3, 2, 0}};
    static const int ranks[] = {2, 3, 3, 4, 4};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const struct noise_sums sums = sums_of(batches[i], ranks[i]);
        const struct noise_estimate found = noise_estimate(&sums);
        assert_true(fabs(found.norm2 - norm2_of(mean)) < 1e-11);
        assert_true(fabs(found.variance - variance()) < 1e-11);
    }
}

/* With equal batches, the estimates are means of the formulas of McCandlish et al. over steps. */
static void estimates_are_means_of_the_formulas(void **state)
{
    struct noise_sums sums = {0};
    struct noise_estimate expected = {0, 0};
    const double b = 3, all = 6;
    for (unsigned signs = 5; signs < 64; signs += 7) {
        double total2 = mean_norm2(signs, 0, 6);
        for (int r = 0; r < 2; r++) {
            double local2 = mean_norm2(signs, 3 * r, 3 * r + 3);
            noise_add(&sums, local2, b, total2, all);
            expected.norm2 += (all * total2 - b * local2) / (all - b) / 18;
            expected.variance += (local2 - total2) / (1 / b - 1 / all) / 18;
        }
    }
    const struct noise_estimate found = noise_estimate(&sums);
    assert_int_equal(sums.locals, 18);
    assert_true(fabs(found.norm2 - expected.norm2) < 1e-12);
    assert_true(fabs(found.variance - expected.variance) < 1e-12);
}

static void nothing_is_known_from_one_batch_size(void **state)
{
    static const int alone[] = {4, 0};
    struct noise_sums sums = sums_of(alone, 2);
    assert_true(isnan(noise_estimate(&sums).norm2) && isnan(noise_estimate(&sums).variance));
    sums = (struct noise_sums){0};
    assert_true(isnan(noise_estimate(&sums).norm2));
    noise_add(&sums, INFINITY, 1, 2, 4); /* training diverged */
    assert_true(isnan(noise_estimate(&sums).norm2) && isnan(noise_estimate(&sums).variance));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_gradients_are_found),
        cmocka_unit_test(unequal_batches_have_no_bias),
        cmocka_unit_test(estimates_are_means_of_the_formulas),
        cmocka_unit_test(nothing_is_known_from_one_batch_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
