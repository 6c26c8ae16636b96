/* Compares the loss with vectorised exponentials to the loss with the C library's. */
#include "kernels/layers/loss.h"
#include "kernels/tests/support.h"

/* Both have an error of about 2^-51 per exponential. A logarithm is at most 8 larger than the
 * logits. */
static void simd_loss_equals_the_reference_loss(void **state)
{
    enum { N = 71, MOST = 23 };
    real *logits = random_reals(N * MOST, 3), a[N * MOST], b[N * MOST];
    uint8_t labels[N];
    real weights[N];
    for (int i = 0; i < N; i++) {
        labels[i] = (uint8_t)(i % 2);
        weights[i] = (real)(i % 3);
        for (int c = 0; c < MOST; c++) /* nearly equal to 2000 apart */
            logits[i * MOST + c] *= (real)pow(10, i % 7 - 3);
    }
    for (int isa = 0; isa <= (int)isa_best(); isa++)
        for (int classes = 2; classes <= MOST; classes += 3) {
            struct score x = softmax_cross_entropy(N, classes, logits, labels, weights, 0.25, a);
            struct score y = softmax_cross_entropy_simd((enum isa)isa, N, classes, logits, labels,
                                                        weights, 0.25, b);
            assert_int_equal(x.correct, y.correct);
            assert_int_equal(x.samples, y.samples);
            assert_true(fabs(x.loss_sum - y.loss_sum) <= 0x1p-50 * N * 2000);
            for (int i = 0; i < N * classes; i++)
                assert_true(fabs((double)a[i] - (double)b[i]) <= REAL_EPSILON + 0x1p-50 * 2000);
        }
    mem_free(logits);
}

static void simd_loss_shows_nan(void **state)
{
    const real logits[4] = {1, (real)NAN, 2, 3};
    const uint8_t labels[2] = {0, 1};
    for (int isa = 0; isa <= (int)isa_best(); isa++) {
        real d[4];
        struct score s =
            softmax_cross_entropy_simd((enum isa)isa, 2, 2, logits, labels, NULL, 1, d);
        assert_true(isnan(s.loss_sum));
        assert_true(isnan(d[0]) && isnan(d[1]) && !isnan(d[2]) && !isnan(d[3]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simd_loss_equals_the_reference_loss),
        cmocka_unit_test(simd_loss_shows_nan),
    };
    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
