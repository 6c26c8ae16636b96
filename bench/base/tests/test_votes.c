/* Tests of votes on the late rank: known votes, and simulated campaigns of equal ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "bench/base/votes.h"
#include "kernels/base/rng.h"

enum { CAMPAIGNS = 10000, LAUNCHES = 6, STEPS = 30, RANKS_MAX = 8 };

static void a_launch_votes_for_one_rank(void **state)
{
    assert_int_equal(votes_largest((size_t[]){3, 9, 5}, 3), 1);
    assert_int_equal(votes_largest((size_t[]){7, 0}, 2), 0);
    assert_int_equal(votes_largest((size_t[]){4, 9, 9}, 3), -1);
    assert_int_equal(votes_largest((size_t[]){9, 9, 10}, 3), 2);
    assert_int_equal(votes_largest((size_t[]){0, 0}, 2), -1);
}

static void votes_are_counted(void **state)
{
    struct votes all = votes_count((int[]){1, 1, 1, 1, 1, 1}, 6, 2);
    struct votes most = votes_count((int[]){0, 3, 3, -1, 3, 3}, 6, 4);
    struct votes none = votes_count((int[]){-1, -1}, 2, 4);
    assert_int_equal(all.choice, 1);
    assert_true(fabs(all.p - 2.0 / 64) < 1e-15);
    assert_int_equal(most.choice, 3);
    assert_int_equal(most.n, 5);
    assert_true(fabs(most.p - 4 * 16.0 / 1024) < 1e-15); /* 4 or 5 of 5 votes at probability 1/4 */
    assert_int_equal(none.choice, -1);
    assert_true(isnan(none.p));
}

/* Returns the vote of a simulated launch. With probability `late`, rank 0 arrives last in a step;
 * otherwise each rank is equally likely. If `stick`, three of four steps repeat the step before. */
static int launch_of(int ranks, double late, bool stick, uint32_t campaign, uint32_t launch)
{
    size_t times[RANKS_MAX] = {0};
    int last = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t words[4];
        rng_words4(words, 14, (uint32_t)ranks, campaign, launch, step);
        if (step == 0 || !stick || rng_unit(words[0]) > 0.75)
            last = rng_unit(words[1]) < late ? 0 : (int)(rng_unit(words[2]) * ranks);
        times[last]++;
    }
    return votes_largest(times, ranks);
}

/* Counts the campaigns in which a rank is blamed at 5 %. */
static int blamed(int ranks, double late, bool stick)
{
    int n = 0;
    for (uint32_t campaign = 0; campaign < CAMPAIGNS; campaign++) {
        int votes[LAUNCHES];
        for (uint32_t i = 0; i < LAUNCHES; i++)
            votes[i] = launch_of(ranks, late, stick, campaign, i);
        n += votes_count(votes, LAUNCHES, ranks).p <= 0.05;
    }
    return n;
}

static void equal_ranks_are_hardly_blamed(void **state)
{
    for (int ranks = 2; ranks <= RANKS_MAX; ranks *= 2)
        for (int stick = 0; stick < 2; stick++)
            assert_in_range(blamed(ranks, 0, stick), 0, CAMPAIGNS / 20);
}

/* late = 0.5: with two ranks, rank 0 is last in three of four steps. */
static void a_late_rank_is_blamed(void **state)
{
    for (int ranks = 2; ranks <= RANKS_MAX; ranks *= 2)
        assert_in_range(blamed(ranks, 0.5, false), CAMPAIGNS * 9 / 10, CAMPAIGNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_votes_for_one_rank),
        cmocka_unit_test(votes_are_counted),
        cmocka_unit_test(equal_ranks_are_hardly_blamed),
        cmocka_unit_test(a_late_rank_is_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
