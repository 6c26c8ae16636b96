/* Tests injected stragglers: the sleep is a function of seed, step and rank, follows its
 * distribution, and affects chosen ranks only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "bench/workloads/train_cnn/parts/inject.h"

static struct config config;

static void option(enum option_id id, const char *text)
{
    struct error e;
    if (config_set(&config, option_get(id), text, (struct mark){0}, &e) != OK)
        fail_msg("%s", e.text);
}

static int setup(void **state)
{
    struct error e;
    if (config_init(&config, &e) != OK)
        return -1;
    option(OPT_INJECT_KIND, "fixed");
    option(OPT_INJECT_SLEEP, "20ms");
    option(OPT_INJECT_RANKS, "[1, 3]");
    return 0;
}

static int teardown(void **state)
{
    config_free(&config);
    return 0;
}

static struct inject opened(int rank)
{
    struct inject in;
    struct error e;
    assert_int_equal(inject_open(&in, &config, rank, 4, &e), OK);
    return in;
}

static double seconds(const struct inject *in, uint64_t step)
{
    return inject_seconds(in, INJECT_PHASE_backward, step);
}

static void chosen_ranks_sleep_in_chosen_steps(void **state)
{
    option(OPT_INJECT_STEPS, "5..7");
    for (int rank = 0; rank < 4; rank++) {
        struct inject in = opened(rank);
        for (uint64_t step = 1; step < 10; step++) {
            bool chosen = rank % 2 == 1 && step >= 5 && step <= 7;
            assert_true(seconds(&in, step) == (chosen ? 0.02 : 0));
            assert_true(inject_seconds(&in, INJECT_PHASE_load, step) == 0);
        }
    }
}

static void nobody_sleeps_by_default(void **state)
{
    option(OPT_INJECT_KIND, "none");
    struct inject in = opened(1);
    assert_true(seconds(&in, 1) == 0);
    assert_true(inject_sleep(&in, INJECT_PHASE_backward, 1) == 0);
}

static void sleeping_takes_the_time(void **state)
{
    option(OPT_INJECT_SLEEP, "3ms");
    struct inject in = opened(3);
    assert_true(inject_sleep(&in, INJECT_PHASE_backward, 1) >= 3000000);
}

/* Checks the decision without killing. */
static void a_rank_that_is_to_die_sleeps_nowhere(void **state)
{
    option(OPT_INJECT_KIND, "kill");
    option(OPT_INJECT_STEPS, "5..5");
    struct inject chosen = opened(3), other = opened(2);
    assert_true(inject_kills(&chosen, INJECT_PHASE_backward, 5));
    assert_false(inject_kills(&chosen, INJECT_PHASE_backward, 4));
    assert_false(inject_kills(&chosen, INJECT_PHASE_forward, 5));
    assert_false(inject_kills(&other, INJECT_PHASE_backward, 5));
    assert_true(seconds(&chosen, 5) == 0 && seconds(&other, 5) == 0);
}

static void draws_depend_on_seed_step_and_rank_alone(void **state)
{
    option(OPT_INJECT_KIND, "exponential");
    struct inject one = opened(1), again = opened(1), three = opened(3);
    option(OPT_SEED, "2");
    struct inject other = opened(1);
    for (uint64_t step = 1; step < 50; step++) {
        assert_true(seconds(&one, step) == seconds(&again, step));
        assert_true(seconds(&one, step) != seconds(&three, step));
        assert_true(seconds(&one, step) != seconds(&other, step));
        assert_true(seconds(&one, step) != seconds(&one, step + 1));
    }
}

/* The mean of n draws exceeds 5 standard deviations, sleep / sqrt(n) each, for one in two million
 * seeds. The seed is fixed. */
static void exponential_has_its_mean(void **state)
{
    enum { N = 100000 };
    option(OPT_INJECT_KIND, "exponential");
    struct inject in = opened(1);
    double sum = 0;
    for (uint64_t step = 1; step <= N; step++) {
        assert_true(seconds(&in, step) >= 0);
        sum += seconds(&in, step);
    }
    assert_true(fabs(sum / N - 0.02) <= 5 * 0.02 / sqrt(N));
}

/* P(X > k x least) = k^-shape; the share of n draws has standard deviation sqrt(p (1 - p) / n). */
static void pareto_has_its_tail(void **state)
{
    enum { N = 100000 };
    option(OPT_INJECT_KIND, "pareto");
    option(OPT_INJECT_SHAPE, "1.5");
    struct inject in = opened(1);
    for (double k = 2; k <= 8; k *= 2) {
        double p = pow(k, -1.5);
        int beyond = 0;
        for (uint64_t step = 1; step <= N; step++) {
            assert_true(seconds(&in, step) >= 0.02);
            beyond += seconds(&in, step) > k * 0.02;
        }
        assert_true(fabs((double)beyond / N - p) <= 5 * sqrt(p * (1 - p) / N));
    }
}

static void a_rank_that_is_not_there_is_refused(void **state)
{
    struct inject in;
    struct error e;
    assert_int_equal(inject_open(&in, &config, 0, 3, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "inject.ranks: expected ranks 0..2 of this job, found 3");
    option(OPT_INJECT_KIND, "none");
    assert_int_equal(inject_open(&in, &config, 0, 1, &e), OK);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chosen_ranks_sleep_in_chosen_steps),
        TEST(nobody_sleeps_by_default),
        TEST(a_rank_that_is_to_die_sleeps_nowhere),
        TEST(sleeping_takes_the_time),
        TEST(draws_depend_on_seed_step_and_rank_alone),
        TEST(exponential_has_its_mean),
        TEST(pareto_has_its_tail),
        TEST(a_rank_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
