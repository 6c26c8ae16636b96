#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "bench/compare/tests/simulated_campaigns.h"

static const struct compared *row(const char *name)
{
    const struct compared *what = NULL;
    struct error e = {.status = OK};
    assert_int_equal(compared_find(&what, name, &e), OK);
    return what;
}

static struct judged judged(const char *quantity, const double *a, size_t n, const double *b,
                            size_t m, double level, double floor)
{
    struct judged j;
    struct error e = {.status = OK};
    const struct noise_floor noise = {.given = floor};
    const struct judge_rules rules = {
        .what = row(quantity), .margin = 0.02, .level = level, .floor = &noise};
    const struct judge_launches left = {a, n, 0}, right = {b, m, 0};
    assert_int_equal(judge(&j, &rules, &(struct judge_sample){&left, 1, n == 1, false},
                           &(struct judge_sample){&right, 1, m == 1, false}, &e),
                     OK);
    return j;
}

static const double steady[] = {10.00, 10.02, 9.98, 10.01, 9.99, 10.03};

static void scale(double *to, const double *from, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        to[i] = factor * from[i];
}

static void verdicts_follow_the_whole_interval(void **state)
{
    static const struct {
        double factor, floor;
        const char *step, *rate;
    } rows[] = {
        {1.000, 0, "same", "same"},
        {1.010, 0, "same", "same"},
        {1.0195, 0, "undecided", "undecided"},
        {1.030, 0, "slower", "faster"},
        {1.030, 0.035, "undecided", "undecided"},
        {1.100, 0, "slower", "faster"},
        {0.900, 0, "faster", "slower"},
        {1.000, 0.03, "undecided", "undecided"},
        {1.000, 0.01, "same", "same"},
        {1.100, 0.03, "slower", "faster"},
        {1.040, 0.03, "slower", "faster"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double other[6];
        scale(other, steady, 6, rows[r].factor);
        struct judged j = judged("step_ms", steady, 6, other, 6, 0.95, rows[r].floor);
        assert_string_equal(verdict_name(j.verdict, row("step_ms")), rows[r].step);
        assert_true(fabs(j.ratio.mid / rows[r].factor - 1) < 1e-3);
        j = judged("images_per_s", steady, 6, other, 6, 0.95, rows[r].floor);
        assert_string_equal(verdict_name(j.verdict, row("images_per_s")), rows[r].rate);
    }
}

/* Identical launches have an interval of width 0; the floor remains. */
static void the_floor_widens_the_interval(void **state)
{
    const double one[] = {1, 1, 1, 1, 1, 1};
    double e[6];
    scale(e, one, 6, exp(1));
    struct judged j = judged("step_ms", one, 6, e, 6, 0.95, 0.3);
    assert_true(fabs(log(j.ratio.lo) - 0.7) < 1e-12 && fabs(log(j.ratio.hi) - 1.3) < 1e-12);
    assert_true(fabs(j.launches.lo - exp(1)) < 1e-12 && fabs(j.launches.hi - exp(1)) < 1e-12);
    const double wide[] = {exp(0.4), exp(0.4), exp(0.4), exp(-0.4), exp(-0.4), exp(-0.4)};
    j = judged("step_ms", one, 6, wide, 6, 0.95, 0.3);
    assert_true(fabs(log(j.ratio.hi) - 0.5) < 1e-12); /* sqrt(0.4^2 + 0.3^2) = 0.5 */
    assert_non_null(strstr(j.reason, "variation between campaigns hides a difference"));
    j = judged("step_ms", one, 6, wide, 6, 0.95, 0.01);
    assert_non_null(strstr(j.reason, "more launches may decide it"));
}

/* Campaigns of identical launches: the ratio and the floor apply to means of campaigns. */
static void campaigns_of_a_side_count_by_their_mean(void **state)
{
    struct judged j;
    struct error e = {.status = OK};
    double values[3][6];
    const double at[] = {0.1, -0.1, 0.5};
    struct judge_launches left[3], right = {values[2], 6, 0};
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < 6; i++)
            values[c][i] = exp(at[c]);
    left[0] = (struct judge_launches){values[0], 6, 0};
    left[1] = (struct judge_launches){values[0], 0, 0}; /* a campaign without launches does not
                                                           count */
    left[2] = (struct judge_launches){values[1], 6, 0};
    const struct noise_floor noise = {.given = 0.2};
    const struct judge_rules rules = {row("step_ms"), 0.02, 0.95, &noise, false};
    assert_int_equal(judge(&j, &rules, &(struct judge_sample){left, 3, false, false},
                           &(struct judge_sample){&right, 1, false, false}, &e),
                     OK);
    assert_int_equal(j.reference_campaigns, 2);
    assert_int_equal(j.reference_n, 12);
    assert_true(fabs(j.reference - 1) < 1e-12);
    assert_true(fabs(log(j.ratio.mid) - 0.5) < 1e-12);
    assert_true(fabs(j.floor - 0.2 * sqrt((0.5 + 1) / 2)) < 1e-12);
    assert_true(fabs(log(j.ratio.lo) - 0.5 + j.floor) < 1e-12);
    assert_true(fabs(log(j.launches.lo) - 0.5) < 1e-12);
}

/* The noise floor covers only sides whose campaigns vary. */
static void equal_simulations_are_the_same(void **state)
{
    (void)state;
    struct judged j;
    struct error e;
    const struct judge_launches launches = {steady, 6, 0};
    const struct noise_floor noise = {.given = 0.2};
    const struct judge_rules rules = {row("step_ms"), 0.02, 0.95, &noise, false};
    for (int n = 0; n <= 2; n++) {
        const struct judge_sample a = {&launches, 1, false, n > 0},
                                  b = {&launches, 1, false, n > 1};
        assert_int_equal(judge(&j, &rules, &a, &b, &e), OK);
        assert_int_equal(j.verdict, n == 2 ? VERDICT_SAME : VERDICT_UNDECIDED);
        assert_true(fabs(j.floor - 0.2 * sqrt((2 - n) / 2.0)) < 1e-12);
    }
}

/* A certain but small difference is undecided if it may lie within the margin. */
static void what_surely_differs_may_be_within_the_margin(void **state)
{
    double other[6];
    scale(other, steady, 6, 1.019);
    struct judged j = judged("step_ms", steady, 6, other, 6, 0.95, 0);
    assert_int_equal(j.verdict, VERDICT_UNDECIDED);
    assert_string_equal(j.reason, "the sides differ, perhaps by less than the margin");
}

static void few_launches_decide_nothing_and_say_how_many_would(void **state)
{
    double other[6];
    scale(other, steady, 6, 2);
    struct judged j = judged("step_ms", steady, 3, other, 3, 0.95, 0);
    assert_int_equal(j.verdict, VERDICT_UNDECIDED);
    assert_non_null(strstr(j.reason, "needs a level of 95.00 %, these reach 90.00 %"));
    assert_non_null(strstr(j.reason, "4 launches on each side would"));
    assert_int_equal(judged("step_ms", steady, 4, other, 4, 0.95, 0).verdict, VERDICT_BAD);
    j = judged("step_ms", steady, 6, other, 6, 0.999, 0);
    assert_non_null(strstr(j.reason, "7 launches on each side would"));
    j = judged("step_ms", steady, 1, other, 5, 0.95, 0);
    assert_non_null(strstr(j.reason, "6 launches would"));
}

static void published_numbers_count_as_exact(void **state)
{
    const double published = 10;
    struct judged j = judged("step_ms", &published, 1, steady, 6, 0.95, 0);
    assert_int_equal(j.verdict, VERDICT_SAME);
    assert_true(fabs(j.ratio.lo - 0.998) < 1e-12 && fabs(j.ratio.hi - 1.003) < 1e-12);
    j = judged("step_ms", steady, 6, &published, 1, 0.95, 0);
    assert_true(fabs(j.ratio.lo - 1 / 1.003) < 1e-12 && fabs(j.ratio.hi - 1 / 0.998) < 1e-12);
}

static void what_is_not_positive_has_no_ratio(void **state)
{
    const double zeros[] = {0, 0, 0, 0, 0, 0};
    struct judged j = judged("comm_exposed_ms", zeros, 6, steady, 6, 0.95, 0);
    assert_int_equal(j.verdict, VERDICT_NONE);
    assert_true(isnan(j.ratio.mid) && j.reason[0]);
    assert_int_equal(judged("step_ms", steady, 6, steady, 0, 0.95, 0).verdict, VERDICT_NONE);
}

/* ---- The floor ---- */

/* Returns a floor without default deviation. */
static struct noise_floor no_floor(void)
{
    struct noise_floor floor;
    floor_begin(&floor, 0);
    return floor;
}

static void add(struct noise_floor *floor, const double *logs, size_t points, size_t k)
{
    const double none[120] = {0};
    floor_add(floor, logs, none, points, k);
}

/* Two points in three repetitions; computed by hand, their variances between repetitions are 1 and
 * 4. */
static void the_floor_is_the_mean_variance_between_repetitions(void **state)
{
    const double logs[] = {0, 1, 2, 5, 3, 7}, other[] = {0, 2, 4};
    struct noise_floor floor = no_floor();
    assert_true(floor_width(&floor, 0.95, 1, 1) == 0);
    add(&floor, logs, 2, 3);
    assert_true(fabs(floor.variance - 2.5) < 1e-12);
    assert_true(floor.degrees >= 2 && floor.degrees <= 4);
    assert_int_equal(floor.repetitions, 3);
    add(&floor, logs, 2, 1); /* one run is no repetition */
    add(&floor, logs, 0, 3);
    assert_int_equal(floor.repetitions, 3);
    double degrees = floor.degrees;
    add(&floor, other, 1, 3);
    assert_true(fabs(floor.degrees - degrees - 2) < 1e-12);
    assert_true(fabs(floor.variance - (2.5 * degrees + 4 * 2) / (degrees + 2)) < 1e-12);
}

/* The scatter of launches is subtracted; the default counts as ten degrees of freedom. */
static void the_floor_is_moderated(void **state)
{
    const double logs[] = {0, 0.02, 0.04}, scatter[] = {1e-4, 1e-4, 1e-4}, much[] = {1, 1, NAN};
    double usual = log1p(0.015) * log1p(0.015);
    struct noise_floor floor;
    floor_begin(&floor, 1.5);
    assert_true(fabs(floor_width(&floor, 0.95, 1, 1) - 2.228139 * sqrt(2 * usual)) < 1e-7);
    assert_true(fabs(floor_width(&floor, 0.95, 4, 0) - 2.228139 * sqrt(usual / 4)) < 1e-7);
    double width = floor_width(&floor, 0.95, 1, 1);
    assert_int_equal(floor_campaigns(&floor, 0.95, width / 2.001), 5);
    assert_int_equal(floor_campaigns(&floor, 0.95, width / 20), 0);
    assert_int_equal(floor_campaigns(&floor, 0.95, 0), 0);
    floor_add(&floor, logs, scatter, 1, 3);
    assert_true(fabs(floor.variance - (10 * usual + 2 * 3e-4) / 12) < 1e-12);
    assert_true(fabs(floor.degrees - 12) < 1e-12);
    floor_begin(&floor, 1.5);
    floor_add(&floor, logs, much, 1, 3);
    assert_true(fabs(floor.variance - 10 * usual / 12) < 1e-12);
}

/* Degrees of freedom: points that change together count as one, independent points as several. */
static void degrees_tell_whether_points_change_together(void **state)
{
    double together[3 * 40], apart[3 * 40];
    for (uint32_t p = 0; p < 40; p++)
        for (uint32_t r = 0; r < 3; r++) {
            together[p * 3 + r] = p + r;
            apart[p * 3 + r] = r == p % 3;
        }
    struct noise_floor floor = no_floor();
    add(&floor, together, 40, 3);
    assert_true(fabs(floor.degrees - 2) < 1e-9 && fabs(floor.variance - 1) < 1e-9);
    assert_true(fabs(floor_width(&floor, 0.95, 1, 1) - 4.302653 * sqrt(2)) < 1e-5);
    floor = no_floor();
    add(&floor, apart, 40, 3);
    assert_true(floor.degrees > 70 && floor.degrees <= 80);
}

/* ---- Simulated campaigns: `make bench-verdicts` prints more ---- */

/* Adds up verdicts over launch noise of 1, 2 and 3 % and over shares of common changes, for k
 * campaigns against one. */
static struct sim_verdicts verdicts_of(double between, size_t k, double slower)
{
    struct sim_verdicts verdicts = {.points = 0};
    struct simulated s = {.between = between, .seed = 11};
    for (int t = 0; t < 270; t++) {
        s.launch = 0.01 * (1 + t % 3);
        s.shared = t / 3 % 3 / 2.0;
        sim_compare(&verdicts, &s, row("step_ms"), k, slower);
    }
    return verdicts;
}

static const double deviations[] = {0.005, 0.01, 0.02};

static void repetitions_are_called_different_seldom(void **state)
{
    static const size_t campaigns[] = {1, 2, 3, 10};
    for (size_t c = 0; c < 4; c++)
        for (size_t d = 0; d < 3; d++) {
            struct sim_verdicts v = verdicts_of(deviations[d], campaigns[c], 1);
            double different = sim_share(&v, VERDICT_BAD) + sim_share(&v, VERDICT_GOOD);
            print_message("# %.1f %% between campaigns, %zu known: %.3f different, %.3f same\n",
                          100 * deviations[d], campaigns[c], different,
                          sim_share(&v, VERDICT_SAME));
            assert_true(different <= 0.05);
            if (campaigns[c] == 10 && d < 2)
                assert_true(sim_share(&v, VERDICT_SAME) > (d == 0 ? 0.8 : 0.5));
        }
}

/* With a deviation of 2 % and one campaign per side, no test finds 9 of 10 differences if at most 1
 * of 20 equal points may be called different. Such ratios deviate by at least 2.9 %; (1.96 + 1.28)
 * times that is 9.5 %. */
static void a_tenth_is_found(void **state)
{
    static const size_t campaigns[] = {1, 3, 10};
    for (size_t c = 0; c < 3; c++)
        for (size_t d = 0; d < 3; d++) {
            struct sim_verdicts v = verdicts_of(deviations[d], campaigns[c], 1.1);
            print_message("# %.1f %% between campaigns, %zu known: %.3f found\n",
                          100 * deviations[d], campaigns[c], sim_share(&v, VERDICT_BAD));
            assert_true(sim_share(&v, VERDICT_BAD) >= (c == 0 && d == 2 ? 0.75 : 0.9));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_the_whole_interval),
        cmocka_unit_test(the_floor_widens_the_interval),
        cmocka_unit_test(campaigns_of_a_side_count_by_their_mean),
        cmocka_unit_test(what_surely_differs_may_be_within_the_margin),
        cmocka_unit_test(few_launches_decide_nothing_and_say_how_many_would),
        cmocka_unit_test(published_numbers_count_as_exact),
        cmocka_unit_test(equal_simulations_are_the_same),
        cmocka_unit_test(what_is_not_positive_has_no_ratio),
        cmocka_unit_test(the_floor_is_the_mean_variance_between_repetitions),
        cmocka_unit_test(the_floor_is_moderated),
        cmocka_unit_test(degrees_tell_whether_points_change_together),
        cmocka_unit_test(repetitions_are_called_different_seldom),
        cmocka_unit_test(a_tenth_is_found),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
