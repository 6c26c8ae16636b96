/* Forecasts from artificial journals, including the launches expected for the precision. Two
 * points; ranks=1 is the base of ranks=2. */
#include "bench/order/tests/order_fixture.h"

static void begin(struct campaign_fixture *f, const char *measure)
{
    char text[500];
    snprintf(text, sizeof text, "matrix: {ranks: [1, 2]}\nmeasure: {%s}", measure);
    fixture_begin(f, text);
    assert_int_equal(f->spec.n_points, 2);
}

/* Adds n timed launches of 5 s with steps of 100 ms, spread evenly by up to off_pct %. */
static void add_launches(struct campaign_fixture *f, size_t point, int n, double off_pct)
{
    for (int i = 0; i < n; i++)
        fixture_run(f, &(struct next_launch){.point = point, .run = RUN_TIME, .block = i},
                    100 + off_pct * (2.0 * i / (n - 1) - 1));
}

static void assert_forecast(const struct campaign_fixture *f, size_t left, double left_s,
                            bool at_most)
{
    struct launch_forecast o = launch_order_forecast(&f->order);
    assert_int_equal(o.done, f->journal.n_launches);
    assert_int_equal(o.left, left);
    assert_true(left_s == o.left_s || (isnan(left_s) && isnan(o.left_s)));
    assert_int_equal(o.at_most, at_most);
}

#define SIX_TO_TWELVE "time: {launches: 6..12, precision: 5%}"
#define SIX_TO_THIRTY "time: {launches: 6..30, precision: 5%}"

/* Before six launches of each point the precision is unknown, so the forecast is the maximum of
 * twelve. */
static void the_maximum_is_forecast_until_precision_is_known(void **state)
{
    struct campaign_fixture f;
    begin(&f, SIX_TO_TWELVE);
    assert_forecast(&f, 24, NAN, true);
    add_launches(&f, 0, 2, 0.1);
    add_launches(&f, 1, 2, 0.1);
    assert_forecast(&f, 20, 100, true);
    fixture_end(&f);
}

/* At six launches, a third of the precision is required. */
static void nothing_is_left_where_precision_is_met(void **state)
{
    struct campaign_fixture f;
    begin(&f, SIX_TO_TWELVE);
    add_launches(&f, 0, 6, 0.1);
    add_launches(&f, 1, 6, 1.6);
    assert_forecast(&f, 0, 0, false);
    fixture_end(&f);
}

/* A half-width of 6 % at n = 6 is expected to be 6 sqrt(6 / n) %. The requirement of 5 n / 18 % is
 * reached at 14.1 launches, so at 15. The base runs in each block, whichever of the two is noisy,
 * because the ratio is. */
static void launches_for_precision_are_expected(void **state)
{
    struct campaign_fixture f;
    for (int noisy = 0; noisy < 2; noisy++) {
        begin(&f, SIX_TO_THIRTY);
        add_launches(&f, 0, 6, noisy == 0 ? 6 : 0.1);
        add_launches(&f, 1, 6, noisy == 1 ? 6 : 0.1);
        assert_forecast(&f, 18, 90, false);
        fixture_end(&f);
    }
    begin(&f, SIX_TO_THIRTY);
    add_launches(&f, 0, 6, 0.1);
    add_launches(&f, 1, 6, 20);
    assert_forecast(&f, 48, 240, true);
    fixture_end(&f);
}

/* 60 of 70 seconds are spent, so two launches of 5 s remain. */
static void the_budget_ends_it(void **state)
{
    struct campaign_fixture f;
    begin(&f, SIX_TO_TWELVE ", budget: 70s");
    add_launches(&f, 0, 6, 0.1);
    add_launches(&f, 1, 6, 20);
    assert_forecast(&f, 2, 10, true);
    fixture_end(&f);
}

static void a_point_that_failed_takes_no_more(void **state)
{
    struct campaign_fixture f;
    begin(&f, SIX_TO_TWELVE);
    add_launches(&f, 0, 6, 0.1);
    add_launches(&f, 1, 2, 20);
    fixture_fail(&f, &(struct next_launch){.point = 1, .run = RUN_TIME, .block = 2}, "no", 2);
    assert_forecast(&f, 0, 0, false);
    fixture_end(&f);
}

/* If minimum and maximum are equal, the forecast is exact, also within a block. */
static void a_fixed_number_is_no_bound(void **state)
{
    struct campaign_fixture f;
    struct next_launch next;
    begin(&f, "time: {launches: 3..3}");
    for (size_t left = 6; fixture_next(&f, &next);) {
        fixture_run(&f, &next, 100);
        if (--left <= 4) /* both points have run */
            assert_forecast(&f, left, 5 * (double)left, false);
    }
    assert_int_equal(f.journal.n_launches, 6);
    fixture_end(&f);
}

/* 60000 images in steps of 64 are 938 steps; the 10000 test images count as a third. A timed launch
 * of 5 s has 35 steps of 0.1 s, so 1.5 s are not steps. */
static void accuracy_runs_that_are_still_to_come_take_their_steps(void **state)
{
    struct campaign_fixture f;
    double run_s = 5 + 0.1 * (2 * (938 + 10000 / 64.0 / 3) - 35);
    begin(&f, "time: {launches: 2..2, warmup_steps: 5, steps: 30}, accuracy: {seeds: [1, 2]}}\n"
              "train.epochs: 2\ndata: {set: digits");
    add_launches(&f, 0, 2, 0);
    add_launches(&f, 1, 2, 0);
    struct launch_forecast o = launch_order_forecast(&f.order);
    assert_int_equal(o.left, 4);
    assert_float_equal(o.left_s, 4 * run_s, 1e-9);
    fixture_run(&f, &(struct next_launch){.point = 1, .run = RUN_ACCURACY, .seed = 1}, NAN);
    o = launch_order_forecast(&f.order);
    assert_int_equal(o.left, 3);
    assert_float_equal(o.left_s, 5 + 2 * run_s, 1e-9); /* the second point's run as its first */
    fixture_end(&f);
}

/* Without timed launches, the forecast is the mean of other accuracy runs. */
static void accuracy_runs_take_what_others_took(void **state)
{
    struct campaign_fixture f;
    begin(&f, "time: {launches: 0}, accuracy: {seeds: [1, 2]}");
    fixture_run(&f, &(struct next_launch){.point = 0, .run = RUN_ACCURACY, .seed = 1}, NAN);
    assert_forecast(&f, 3, 15, false);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_maximum_is_forecast_until_precision_is_known),
        cmocka_unit_test(nothing_is_left_where_precision_is_met),
        cmocka_unit_test(launches_for_precision_are_expected),
        cmocka_unit_test(the_budget_ends_it),
        cmocka_unit_test(a_point_that_failed_takes_no_more),
        cmocka_unit_test(a_fixed_number_is_no_bound),
        cmocka_unit_test(accuracy_runs_that_are_still_to_come_take_their_steps),
        cmocka_unit_test(accuracy_runs_take_what_others_took),
    };
    return cmocka_run_group_tests_name("forecast", tests, make_file, remove_file);
}
