#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "kernels/base/rng.h"

/* Known answers of philox4x32 with 10 rounds, from kat_vectors of Random123. */
static void philox_gives_the_published_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t words[4];
        rng_philox(words, known[i].counter, known[i].key);
        assert_memory_equal(words, known[i].answer, sizeof words);
    }
}

/* Expected value from an independent implementation of the layout in the header. */
static void words_do_not_change_between_versions(void **state)
{
    uint32_t word = rng_word(0x123456789abcdef0u, RNG_STREAM(RNG_DROPOUT, 2), 5, 59999, 1234567);
    assert_int_equal(word, 0xb38493b1);
}

static void words_depend_on_every_part_of_their_key(void **state)
{
    const uint32_t word = rng_word(1, 2, 3, 4, 5);
    assert_int_equal(word, rng_word(1, 2, 3, 4, 5));
    assert_int_not_equal(word, rng_word(2, 2, 3, 4, 5));
    assert_int_not_equal(word, rng_word(1 + (1ull << 32), 2, 3, 4, 5));
    assert_int_not_equal(word, rng_word(1, 3, 3, 4, 5));
    assert_int_not_equal(word, rng_word(1, 2, 4, 4, 5));
    assert_int_not_equal(word, rng_word(1, 2, 3, 5, 5));
    assert_int_not_equal(word, rng_word(1, 2, 3, 4, 6));
}

static void four_words_at_once_are_the_same_words(void **state)
{
    for (uint32_t block = 0; block < 100; block++) {
        uint32_t words[4];
        rng_words4(words, 42, 7, 1, 9, block);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(words[i], rng_word(42, 7, 1, 9, 4 * block + i));
    }
}

static void units_lie_in_zero_to_one(void **state)
{
    assert_true(rng_unit(0) == 0.0);
    assert_true(rng_unit(0xffffffff) == 1.0 - 0x1p-24);
    /* The mean of n uniform numbers has a standard deviation of 1/sqrt(12 n); five of them are
     * allowed. */
    enum { N = 120000 };
    double sum = 0;
    for (uint32_t i = 0; i < N; i++)
        sum += rng_unit(rng_word(11, 1, 0, 0, i));
    assert_true(sum / N > 0.5 - 5.0 / 1200 && sum / N < 0.5 + 5.0 / 1200);
}

static int is_permutation(const uint32_t *order, uint32_t n)
{
    unsigned char *seen = calloc(n, 1);
    assert_non_null(seen);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < n; i++)
        if (order[i] < n && !seen[order[i]]) {
            seen[order[i]] = 1;
            distinct++;
        }
    free(seen);
    return distinct == n;
}

static void permutation_holds_every_index_once(void **state)
{
    static uint32_t order[60000];
    const uint32_t sizes[] = {1, 2, 3, 10, 1000, 60000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        rng_permutation(order, sizes[i], 1, RNG_STREAM(RNG_SHUFFLE, 0), 3);
        assert_true(is_permutation(order, sizes[i]));
    }
    /* First and last numbers of the last permutation, from an independent implementation. */
    const uint32_t first[] = {45606, 49755, 1481, 35628}, last[] = {22569, 43713, 27410, 54692};
    assert_memory_equal(order, first, sizeof first);
    assert_memory_equal(order + 60000 - 4, last, sizeof last);
    rng_permutation(order, 0, 1, 2, 3);
}

static void permutation_depends_on_epoch_seed_and_stream(void **state)
{
    enum { N = 100 };
    uint32_t base[N], same[N], epoch[N], seed[N], stream[N];
    rng_permutation(base, N, 1, 2, 3);
    rng_permutation(same, N, 1, 2, 3);
    rng_permutation(epoch, N, 1, 2, 4);
    rng_permutation(seed, N, 2, 2, 3);
    rng_permutation(stream, N, 1, 3, 3);
    assert_memory_equal(base, same, sizeof base);
    assert_memory_not_equal(base, epoch, sizeof base);
    assert_memory_not_equal(base, seed, sizeof base);
    assert_memory_not_equal(base, stream, sizeof base);
}

/* Counts the 24 orders of four items. Chi-squared with 23 degrees of freedom exceeds 71 once in a
 * million. A generator biased towards some orders exceeds it at this sample size. */
static void permutation_is_unbiased(void **state)
{
    enum { TRIALS = 48000, ORDERS = 24 };
    int counts[256] = {0};
    for (uint32_t epoch = 0; epoch < TRIALS; epoch++) {
        uint32_t o[4];
        rng_permutation(o, 4, 99, RNG_STREAM(RNG_SHUFFLE, 0), epoch);
        counts[o[0] << 6 | o[1] << 4 | o[2] << 2 | o[3]]++;
    }
    double expected = (double)TRIALS / ORDERS, chi2 = 0;
    int seen = 0;
    for (int i = 0; i < 256; i++)
        if (counts[i] > 0) {
            chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
            seen++;
        }
    assert_int_equal(seen, ORDERS);
    assert_true(chi2 < 71);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(words_do_not_change_between_versions),
        cmocka_unit_test(words_depend_on_every_part_of_their_key),
        cmocka_unit_test(four_words_at_once_are_the_same_words),
        cmocka_unit_test(units_lie_in_zero_to_one),
        cmocka_unit_test(permutation_holds_every_index_once),
        cmocka_unit_test(permutation_depends_on_epoch_seed_and_stream),
        cmocka_unit_test(permutation_is_unbiased),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
