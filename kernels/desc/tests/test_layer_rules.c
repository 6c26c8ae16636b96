/* Properties of single layers beyond their sums: edges, ties, NaN, dropout. */
#include "kernels/tests/layer_bench.h"

/* Padding: a 3x3 kernel of ones on a 2x2 image of ones counts the pixels it covers. */
static void conv2d_pads_with_zeros(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        struct bench b;
        bench_begin(&b, (struct shape){1, 2, 2}, conv2d_layer(1, 3, 3, 1, 2), (enum plan)plan, 1,
                    1);
        for (size_t i = 0; i < b.in; i++)
            b.x[i] = 1;
        for (size_t i = 0; i < 9; i++)
            b.weights[i] = 1;
        b.weights[9] = 10;
        bench_forward(&b);
        const real seen[16] = {11, 12, 12, 11, 12, 14, 14, 12, 12, 14, 14, 12, 11, 12, 12, 11};
        assert_int_equal(b.out, 16);
        assert_memory_equal(b.y, seen, sizeof seen);
        bench_end(&b);
    }
}

static void relu_keeps_nan_and_has_no_gradient_at_zero(void **state)
{
    struct bench b;
    bench_begin(&b, (struct shape){5, 1, 1}, layer_desc_preset(LAYER_relu), PLAN_FAST, 1, 1);
    const real x[5] = {-1, 0, 2, (real)NAN, (real)INFINITY};
    memcpy(b.x, x, sizeof x);
    bench_forward(&b);
    assert_true(b.y[0] == 0 && b.y[1] == 0 && b.y[2] == 2 && isnan(b.y[3]) && isinf(b.y[4]));
    bench_backward(&b);
    assert_true(b.dx[0] == 0 && b.dx[1] == 0 && b.dx[2] == b.dy[2] && b.dx[4] == b.dy[4]);
    bench_end(&b);
}

/* Padding is never the maximum, however small the numbers, and counts as zeros in a mean. */
static void padding_is_zero_in_means_and_never_the_maximum(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        struct bench b;
        struct shape in = {1, 2, 2};
        const real x[4] = {-4, -8, -12, -16};
        bench_begin(&b, in, pool_layer(LAYER_maxpool2d, 2, 2, 2, 1), (enum plan)plan, 1, 1);
        memcpy(b.x, x, sizeof x);
        bench_forward(&b);
        assert_memory_equal(b.y, x, sizeof x);
        bench_end(&b);
        const real mean[4] = {-1, -2, -3, -4};
        bench_begin(&b, in, pool_layer(LAYER_avgpool2d, 2, 2, 2, 1), (enum plan)plan, 1, 1);
        memcpy(b.x, x, sizeof x);
        bench_forward(&b);
        assert_memory_equal(b.y, mean, sizeof mean);
        bench_end(&b);
    }
}

/* A row of four 2x2 windows with all kinds of ties. Only the first maximum gets the gradient. */
static void maxpool2d_takes_the_first_of_equals(void **state)
{
    struct bench b;
    bench_begin(&b, (struct shape){1, 2, 8}, maxpool2d_layer(2, 2, 0), PLAN_FAST, 1, 1);
    const real x[16] = {3, 3, 1, 5, 0, 0, -2, -1, 3, 3, 5, 5, 7, 7, -1, -1};
    const real y[4] = {3, 5, 7, -1};
    const int first[4] = {0, 3, 12, 7};
    memcpy(b.x, x, sizeof x);
    bench_forward(&b);
    assert_memory_equal(b.y, y, sizeof y);
    bench_backward(&b);
    for (int i = 0; i < 16; i++) {
        real expected = 0;
        for (int w = 0; w < 4; w++)
            if (first[w] == i)
                expected = b.dy[w];
        assert_true(b.dx[i] == expected);
    }
    bench_end(&b);
}

static void maxpool2d_passes_nan_on(void **state)
{
    const struct layer_desc windows[] = {maxpool2d_layer(2, 2, 0), maxpool2d_layer(2, 2, 1)};
    for (size_t w = 0; w < 2; w++) {
        for (size_t at = 0; at < 4; at++) {
            struct bench b;
            bench_begin(&b, (struct shape){1, 2, 2}, windows[w], PLAN_FAST, 1, 1);
            for (size_t i = 0; i < 4; i++)
                b.x[i] = i == at ? (real)NAN : (real)INFINITY;
            bench_forward(&b);
            bench_backward(&b);
            assert_true(isnan(b.y[0]));
            for (size_t i = 0; i < 4; i++)
                assert_true(b.dx[i] == (i == at ? b.dy[0] : 0));
            bench_end(&b);
        }
    }
}

/* Overlapping windows: the centre is the maximum of all four and gets all four gradients. The odd
 * row and column dropped by floor rounding get none. */
static void maxpool2d_sums_over_windows_and_drops_the_rest(void **state)
{
    struct bench b;
    bench_begin(&b, (struct shape){1, 3, 3}, maxpool2d_layer(2, 2, 1), PLAN_FAST, 1, 1);
    for (int i = 0; i < 9; i++)
        b.x[i] = i == 4 ? 9 : (real)i / 10;
    bench_forward(&b);
    bench_backward(&b);
    double sum = (double)(((b.dy[0] + b.dy[1]) + b.dy[2]) + b.dy[3]);
    assert_true((double)b.dx[4] == sum);
    bench_end(&b);

    bench_begin(&b, (struct shape){1, 5, 5}, maxpool2d_layer(2, 2, 0), PLAN_FAST, 1, 1);
    assert_int_equal(b.out, 4);
    bench_forward(&b);
    bench_backward(&b);
    for (int i = 0; i < 5; i++)
        assert_true(b.dx[4 * 5 + i] == 0 && b.dx[i * 5 + 4] == 0);
    bench_end(&b);
}

/* Compares the branch-free path of 2x2 windows, on rows long enough for vector code, with a plain
 * search. */
static void maxpool2d_finds_every_maximum(void **state)
{
    struct bench b;
    bench_begin(&b, (struct shape){3, 26, 26}, maxpool2d_layer(2, 2, 0), PLAN_FAST, 2, 3);
    for (size_t i = 0; i < b.in; i++)
        b.x[i] = (real)(int)(b.x[i] * 4); /* few distinct values, so many ties */
    bench_forward(&b);
    const uint16_t *where = b.saved;
    for (size_t p = 0; p < 6; p++) {
        for (size_t o = 0; o < 169; o++) {
            const real *window = b.x + p * 676 + o / 13 * 52 + o % 13 * 2;
            const real values[4] = {window[0], window[1], window[26], window[27]};
            int best = 0;
            for (int i = 1; i < 4; i++)
                best = values[i] > values[best] ? i : best;
            assert_true(b.y[p * 169 + o] == values[best]);
            assert_int_equal(where[p * 169 + o], best);
        }
    }
    bench_end(&b);
}

/* Masks only depend on the arguments that the header lists; gradients use the same mask. */
static void dropout_masks_come_from_seed_layer_epoch_sample_element(void **state)
{
    struct bench b;
    bench_begin(&b, (struct shape){3, 5, 7}, dropout_layer(LAYER_dropout, 0.3), PLAN_FAST, 7, 3);
    b.desc.layers[0].index = 5; /* as if five layers preceded it */
    bench_forward(&b);
    bench_backward(&b);
    const real scale = (real)(1 / (1 - 0.3));
    size_t elements = shape_count(b.layer->in);
    for (size_t i = 0; i < b.in; i++) {
        uint32_t word = rng_word(11, RNG_STREAM(RNG_DROPOUT, 5), 3, b.samples[i / elements],
                                 (uint32_t)(i % elements));
        bool kept = rng_unit(word) >= 0.3;
        assert_true(b.y[i] == (kept ? b.x[i] * scale : 0));
        assert_true(b.dx[i] == (kept ? b.dy[i] * scale : 0));
    }
    bench_end(&b);
}

static void dropout2d_drops_whole_channels(void **state)
{
    struct bench b;
    bench_begin(&b, (struct shape){20, 3, 5}, dropout_layer(LAYER_dropout2d, 0.5), PLAN_FAST, 7, 3);
    bench_forward(&b);
    bench_backward(&b);
    for (size_t i = 0; i < b.in; i++) {
        uint32_t word = rng_word(11, RNG_STREAM(RNG_DROPOUT, 0), 3, b.samples[i / 300],
                                 (uint32_t)(i / 15 % 20));
        bool kept = rng_unit(word) >= 0.5;
        assert_true(b.y[i] == (kept ? b.x[i] * 2 : 0));
        assert_true(b.dx[i] == (kept ? b.dy[i] * 2 : 0));
    }
    bench_end(&b);
}

/* Images 0..6 in one call are 0..2 and 3..6 in two calls. */
static void dropout_does_not_depend_on_the_batch(void **state)
{
    const enum layer_kind kinds[] = {LAYER_dropout, LAYER_dropout2d};
    for (size_t k = 0; k < 2; k++) {
        struct bench whole, part;
        struct shape in = {6, 4, 4};
        size_t image = shape_count(in);
        bench_begin(&whole, in, dropout_layer(kinds[k], 0.5), PLAN_FAST, 7, 1);
        bench_begin(&part, in, dropout_layer(kinds[k], 0.5), PLAN_FAST, 7, 3);
        bench_forward(&whole);
        part.n = 3;
        bench_forward(&part);
        assert_memory_equal(part.y, whole.y, 3 * image * sizeof(real));
        part.n = 4;
        part.ex.samples += 3;
        memmove(part.x, part.x + 3 * image, 4 * image * sizeof(real));
        bench_forward(&part);
        assert_memory_equal(part.y, whole.y + 3 * image, 4 * image * sizeof(real));
        bench_end(&whole);
        bench_end(&part);
    }
}

/* Six standard deviations of the binomial distribution, 2e-9 by chance; the seed is fixed. */
static void dropout_keeps_its_share(void **state)
{
    struct bench b;
    double rate = 0.25, kept = 0;
    bench_begin(&b, (struct shape){40, 10, 10}, dropout_layer(LAYER_dropout, rate), PLAN_FAST, 16,
                1);
    for (size_t i = 0; i < b.in; i++)
        b.x[i] = 1;
    bench_forward(&b);
    for (size_t i = 0; i < b.out; i++)
        kept += b.y[i] != 0;
    double n = (double)b.out;
    assert_true(fabs(kept - n * (1 - rate)) < 6 * sqrt(n * rate * (1 - rate)));
    bench_end(&b);
}

static void dropout_is_the_identity_in_evaluation(void **state)
{
    const enum layer_kind kinds[] = {LAYER_dropout, LAYER_dropout2d};
    for (size_t k = 0; k < 2; k++) {
        struct bench b;
        bench_begin(&b, (struct shape){6, 4, 4}, dropout_layer(kinds[k], 0.9), PLAN_FAST, 7, 3);
        b.ex.training = false;
        bench_forward(&b);
        assert_memory_equal(b.y, b.x, b.in * sizeof(real));
        bench_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv2d_pads_with_zeros),
        cmocka_unit_test(padding_is_zero_in_means_and_never_the_maximum),
        cmocka_unit_test(relu_keeps_nan_and_has_no_gradient_at_zero),
        cmocka_unit_test(maxpool2d_takes_the_first_of_equals),
        cmocka_unit_test(maxpool2d_passes_nan_on),
        cmocka_unit_test(maxpool2d_sums_over_windows_and_drops_the_rest),
        cmocka_unit_test(maxpool2d_finds_every_maximum),
        cmocka_unit_test(dropout_masks_come_from_seed_layer_epoch_sample_element),
        cmocka_unit_test(dropout2d_drops_whole_channels),
        cmocka_unit_test(dropout_does_not_depend_on_the_batch),
        cmocka_unit_test(dropout_keeps_its_share),
        cmocka_unit_test(dropout_is_the_identity_in_evaluation),
    };
    gemm_init();
    return cmocka_run_group_tests_name("layer rules", tests, NULL, NULL);
}
