/* Tests of intervals of timed launches and of the limit at each look, computed by hand. */
#include "bench/collect/timing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 8 };

static const struct timing base_items[] = {
    {0, 100, 256, NAN}, {1, 101, 256, NAN}, {2, 102, 256, NAN}, {5, 99, 256, NAN}};
/* Twice the images in the same time, with blocks in another order; block 7 has no partner. */
static const struct timing own_items[] = {
    {5, 99, 512, 50}, {0, 120, 512, 50}, {7, 1, 512, 50}, {1, 101, 512, 0}};

static double own_values[MOST], base_values[MOST];
static const struct timings own = {own_items, 4, own_values, false},
                            base = {base_items, 4, base_values, false};

static void ratios_pair_by_block(void **state)
{
    size_t n;
    struct interval i = timing_ratio(&own, &base, &n);
    assert_int_equal(n, 3);
    assert_true(i.mid == 2 && i.hi == 2);
    assert_true(fabs(i.lo - 200.0 / 120) < 1e-12);
    assert_false(i.met);
    timing_ratio(&own, &(struct timings){.n = 0}, &n);
    assert_int_equal(n, 0);
}

/* T_compute is 99 in block 5 and 100 in block 0: all of 50 ms are hidden, or 30 ms of it. A launch
 * without replay has no share. */
static void overlap_is_a_share_of_the_replay(void **state)
{
    size_t n;
    struct interval i = timing_overlap(&own, &base, &n);
    assert_int_equal(n, 2);
    assert_true(fabs(i.lo - 0.6) < 1e-12 && fabs(i.hi - 1) < 1e-12);
}

static void a_single_value_has_no_interval(void **state)
{
    struct timings one = {own_items, 1, own_values, false};
    struct interval i = timing_step_ms(&one);
    assert_true(i.mid == 99 && isnan(i.lo) && isnan(i.hi));
    assert_true(isnan(timing_half_width_pct(&i, false)));
}

static void half_widths_are_in_per_cent(void **state)
{
    struct interval i = {.lo = 0.1, .mid = 0.2, .hi = 0.3, .level = 0.96875, .met = true};
    assert_true(fabs(timing_half_width_pct(&i, false) - 50) < 1e-9);
    assert_true(fabs(timing_half_width_pct(&i, true) - 10) < 1e-9);
    i.met = false;
    assert_true(isnan(timing_half_width_pct(&i, true)));
}

/* For 12 launches, P(B <= 1) is 13/4096 and P(B <= 2) 79/4096: 95 % needs the third value from each
 * end. */
static void added_launches_have_wider_intervals(void **state)
{
    double values[12];
    for (int k = 0; k < 12; k++)
        values[k] = k + 1;
    struct interval i = timing_interval(values, 12, false);
    assert_true(i.lo == 3 && i.hi == 10 && i.mid == 6.5);
    assert_true(fabs(timing_level(12, false) - (1 - 158.0 / 4096)) < 1e-12);
    i = timing_interval(values, 12, true);
    assert_true(i.lo == 2 && i.hi == 11 && i.mid == 6.5 && i.met);
    assert_true(fabs(timing_level(12, true) - (1 - 26.0 / 4096)) < 1e-12);
    for (size_t n = 6; n < 9; n++)
        assert_true(timing_level(n, true) == timing_level(n, false));
    assert_true(isnan(timing_level(1, true)));
}

static void early_looks_ask_for_more(void **state)
{
    assert_true(fabs(timing_asked_pct(5, 6) - 2) < 1e-12);
    assert_true(fabs(timing_asked_pct(5, 9) - 3) < 1e-12);
    assert_true(timing_asked_pct(6, 15) == 6);
    assert_true(timing_asked_pct(6, 300) == 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_pair_by_block),
        cmocka_unit_test(overlap_is_a_share_of_the_replay),
        cmocka_unit_test(a_single_value_has_no_interval),
        cmocka_unit_test(half_widths_are_in_per_cent),
        cmocka_unit_test(added_launches_have_wider_intervals),
        cmocka_unit_test(early_looks_ask_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
