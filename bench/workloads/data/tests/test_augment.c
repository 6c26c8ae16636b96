/* Compares crops and flips with their definition, and checks that all are equally likely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bench/workloads/data/augment.h"
#include "kernels/base/rng.h"

enum { BYTES_MAX = 3 * 32 * 32 };

static void fill(uint8_t image[BYTES_MAX])
{
    for (uint32_t i = 0; i < BYTES_MAX; i++)
        image[i] = (uint8_t)(rng_word(1, 95, 0, 0, i) | 1); /* no zeros in the image itself */
}

/* Returns number (c, h, w) of the result, by definition. */
static uint8_t expected(const uint8_t *image, struct shape s, struct crop crop, int c, int h, int w)
{
    int row = h + crop.row, column = (crop.flip ? s.w - 1 - w : w) + crop.column;
    if (row < 0 || row >= s.h || column < 0 || column >= s.w)
        return 0;
    return image[(c * s.h + row) * s.w + column];
}

static void check(struct shape s, struct crop crop)
{
    uint8_t image[BYTES_MAX], changed[BYTES_MAX];
    fill(image);
    memcpy(changed, image, sizeof image);
    augment_apply(changed, s, crop);
    for (int c = 0; c < s.c; c++)
        for (int h = 0; h < s.h; h++)
            for (int w = 0; w < s.w; w++)
                assert_int_equal(changed[(c * s.h + h) * s.w + w],
                                 expected(image, s, crop, c, h, w));
    size_t n = shape_count(s);
    assert_memory_equal(changed + n, image + n, sizeof image - n);
}

static void every_crop_is_what_it_should_be(void **state)
{
    const struct shape shapes[] = {{3, 32, 32}, {1, 7, 5}, {2, 3, 1}, {1, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int row = -AUGMENT_PAD; row <= AUGMENT_PAD; row++)
            for (int column = -AUGMENT_PAD; column <= AUGMENT_PAD; column++)
                for (int flip = 0; flip <= 1; flip++)
                    check(shapes[i], (struct crop){row, column, flip});
}

/* 162 equally likely choices: each count is within six standard deviations of n/162, which chance
 * exceeds with probability 2e-9. The seed is fixed. */
static void every_crop_is_as_likely(void **state)
{
    enum { N = 162 * 400 };
    int count[9][9][2] = {{{0}}};
    for (uint32_t i = 0; i < N; i++) {
        struct crop crop = augment_crop(1, 3, i);
        assert_in_range(crop.row + AUGMENT_PAD, 0, 8);
        assert_in_range(crop.column + AUGMENT_PAD, 0, 8);
        count[crop.row + AUGMENT_PAD][crop.column + AUGMENT_PAD][crop.flip]++;
    }
    for (int r = 0; r < 9; r++)
        for (int c = 0; c < 9; c++)
            for (int f = 0; f < 2; f++)
                assert_in_range(count[r][c][f], 400 - 6 * 20, 400 + 6 * 20);
}

/* The order of a batch and the rank do not matter; epoch and seed do. */
static void crops_depend_on_seed_epoch_and_sample_alone(void **state)
{
    const struct shape s = {1, 32, 32};
    const uint32_t forward[3] = {7, 500, 49999}, backward[3] = {49999, 500, 7};
    uint8_t a[3 * 1024], b[3 * 1024];
    fill(a);
    memcpy(a + 1024, a, 1024);
    memcpy(a + 2048, a, 1024);
    memcpy(b, a, sizeof b);
    augment_batch(a, s, forward, 3, 11, 2);
    augment_batch(b, s, backward, 3, 11, 2);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(a + i * 1024, b + (2 - i) * 1024, 1024);
    int same_epoch = 0, same_seed = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        struct crop crop = augment_crop(11, 2, i);
        struct crop epoch = augment_crop(11, 3, i), seed = augment_crop(12, 2, i);
        same_epoch += memcmp(&crop, &epoch, sizeof crop) == 0;
        same_seed += memcmp(&crop, &seed, sizeof crop) == 0;
    }
    assert_in_range(same_epoch, 0, 40); /* about 1000/162 = 6 by chance */
    assert_in_range(same_seed, 0, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_crop_is_what_it_should_be),
        cmocka_unit_test(every_crop_is_as_likely),
        cmocka_unit_test(crops_depend_on_seed_epoch_and_sample_alone),
    };
    return cmocka_run_group_tests_name("augment", tests, NULL, NULL);
}
