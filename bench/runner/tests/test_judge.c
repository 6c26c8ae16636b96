#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "bench/runner/compare/floor.h"
#include "bench/runner/compare/judge.h"
#include "kernels/base/rng.h"

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
    const struct judge_rules rules = {
        .what = row(quantity), .margin = 0.02, .level = level, .floor = floor};
    assert_int_equal(judge(&j, &rules, &(struct judge_sample){a, n, n == 1},
                           &(struct judge_sample){b, m, m == 1}, &e),
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
        {1.020, 0, "undecided", "undecided"},
        {1.100, 0, "slower", "faster"},
        {0.900, 0, "faster", "slower"},
        {1.000, 0.03, "undecided", "undecided"},
        {1.000, 0.01, "same", "same"},
        {1.100, 0.03, "slower", "faster"},
        {1.040, 0.03, "undecided", "undecided"},
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

/* Launches that are all alike have an interval of no width: what is left is the floor. */
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
    assert_true(fabs(log(j.ratio.hi) - 0.4) < 1e-12); /* wider than 0.3 */
}

static void few_launches_decide_nothing_and_say_how_many_would(void **state)
{
    double other[6];
    scale(other, steady, 6, 2);
    struct judged j = judged("step_ms", steady, 3, other, 3, 0.95, 0);
    assert_int_equal(j.verdict, VERDICT_UNDECIDED);
    assert_non_null(strstr(j.reason, "90.00 % of the 95.00 %"));
    assert_non_null(strstr(j.reason, "4 on each side would"));
    assert_int_equal(judged("step_ms", steady, 4, other, 4, 0.95, 0).verdict, VERDICT_BAD);
    j = judged("step_ms", steady, 6, other, 6, 0.999, 0);
    assert_non_null(strstr(j.reason, "7 on each side would"));
    j = judged("step_ms", steady, 1, other, 5, 0.95, 0);
    assert_non_null(strstr(j.reason, "6 would"));
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

/* Two points, three repetitions: by hand, each point's variance between them is 1 and 4. */
static void the_floor_is_the_mean_variance_between_repetitions(void **state)
{
    const double logs[] = {0, 1, 2, 5, 3, 7};
    struct noise_floor floor = {.repetitions = 0};
    floor_add(&floor, logs, 2, 3);
    assert_true(fabs(floor.variance - 2.5) < 1e-12);
    assert_true(floor.degrees >= 2 && floor.degrees <= 4);
    assert_int_equal(floor.repetitions, 3);
    floor_add(&floor, logs, 2, 1); /* one run repeats nothing */
    floor_add(&floor, logs, 0, 3);
    assert_int_equal(floor.repetitions, 3);
    const double other[] = {0, 2, 4};
    double degrees = floor.degrees;
    floor_add(&floor, other, 1, 3);
    assert_true(fabs(floor.degrees - degrees - 2) < 1e-12);
    assert_true(fabs(floor.variance - (2.5 * degrees + 4 * 2) / (degrees + 2)) < 1e-12);
}

/* Points that change together say as much as one; those that do not, as many. */
static void degrees_tell_whether_points_change_together(void **state)
{
    double together[3 * 40], apart[3 * 40];
    for (uint32_t p = 0; p < 40; p++)
        for (uint32_t r = 0; r < 3; r++) {
            together[p * 3 + r] = p + r;
            apart[p * 3 + r] = r == p % 3;
        }
    struct noise_floor floor = {.repetitions = 0};
    floor_add(&floor, together, 40, 3);
    assert_true(fabs(floor.degrees - 2) < 1e-9 && fabs(floor.variance - 1) < 1e-9);
    assert_true(fabs(floor_width(&floor, 0.95) - 4.302653 * sqrt(2)) < 1e-5);
    floor = (struct noise_floor){.repetitions = 0};
    floor_add(&floor, apart, 40, 3);
    assert_true(floor.degrees > 70 && floor.degrees <= 80);
    floor = (struct noise_floor){.repetitions = 0};
    assert_true(isnan(floor_width(&floor, 0.95)));
}

/* ---- Repetitions on simulated noise ---- */

enum { POINTS = 8, LAUNCHES = 6, TRIALS = 400 };

struct simulated {
    uint64_t seed;
    uint32_t drawn;
};

/* Normal, by Box and Muller. */
static double draw(struct simulated *s)
{
    double a = rng_unit(rng_word(s->seed, RNG_STREAM(RNG_SCHEDULE, 2), 0, s->drawn, 0));
    double b = rng_unit(rng_word(s->seed, RNG_STREAM(RNG_SCHEDULE, 2), 0, s->drawn++, 1));
    return sqrt(-2 * log1p(-a)) * cos(2 * M_PI * b);
}

/* A campaign of points of 10, 20, 30 ... ms: what changes does so for all points together by `shared`
 * and for each by itself. */
static void simulate(double *values, struct simulated *s, double launch, double campaign,
                     double shared)
{
    double together = sqrt(shared) * draw(s);
    for (size_t p = 0; p < POINTS; p++) {
        double change = campaign * (together + sqrt(1 - shared) * draw(s));
        for (size_t k = 0; k < LAUNCHES; k++)
            values[p * LAUNCHES + k] = 10 * (double)(p + 1) * exp(change + launch * draw(s));
    }
}

static struct noise_floor floor_of(double (*runs)[POINTS * LAUNCHES], size_t k)
{
    double logs[POINTS * 8];
    struct noise_floor floor = {.repetitions = 0};
    for (size_t p = 0; p < POINTS; p++)
        for (size_t r = 0; r < k; r++)
            logs[p * k + r] = log(stats_median(runs[r] + p * LAUNCHES, LAUNCHES));
    floor_add(&floor, logs, POINTS, k);
    return floor;
}

/* How many of the points of two campaigns are called different. */
static size_t count_different(const double *a, const double *b, double level, double floor)
{
    size_t different = 0;
    for (size_t p = 0; p < POINTS; p++) {
        enum verdict verdict =
            judged("step_ms", a + p * LAUNCHES, LAUNCHES, b + p * LAUNCHES, LAUNCHES, level, floor)
                .verdict;
        different += verdict == VERDICT_BAD || verdict == VERDICT_GOOD;
    }
    return different;
}

/* Of `k` repetitions besides the run that is compared; 0: the usual floor. */
static double share_different(size_t k, double slower, struct simulated *s)
{
    size_t different = 0;
    const double level = 1 - 0.05 / POINTS;
    for (uint32_t t = 0; t < TRIALS; t++) {
        double runs[8][POINTS * LAUNCHES], other[POINTS * LAUNCHES];
        double launch = 0.01 + 0.02 * (t % 20) / 19, campaign = 0.01 + 0.01 * (t % 7) / 6;
        double shared = (t % 3) / 2.0;
        for (size_t r = 0; r < (k > 0 ? k : 1); r++)
            simulate(runs[r], s, launch, campaign, shared);
        simulate(other, s, launch, campaign, shared);
        scale(other, other, POINTS * LAUNCHES, slower);
        struct noise_floor noise = floor_of(runs, k);
        double floor = k > 0 ? floor_width(&noise, level) : log1p(row("step_ms")->floor_pct / 100);
        different += count_different(runs[0], other, level, floor);
    }
    return (double)different / (TRIALS * POINTS);
}

/* Noise of launches of 1 to 3 %, between campaigns of 1 to 2 %, from shared by all points to each its
 * own. */
static void repetitions_are_called_different_seldom(void **state)
{
    struct simulated s = {.seed = 11};
    for (size_t k = 0; k <= 5; k += k == 0 ? 2 : 1)
        assert_true(share_different(k, 1, &s) <= 0.05);
}

static void a_tenth_is_found(void **state)
{
    struct simulated s = {.seed = 12};
    assert_true(share_different(0, 1.1, &s) > 0.5);
    assert_true(share_different(5, 1.1, &s) > share_different(3, 1.1, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_the_whole_interval),
        cmocka_unit_test(the_floor_widens_the_interval),
        cmocka_unit_test(few_launches_decide_nothing_and_say_how_many_would),
        cmocka_unit_test(published_numbers_count_as_exact),
        cmocka_unit_test(what_is_not_positive_has_no_ratio),
        cmocka_unit_test(the_floor_is_the_mean_variance_between_repetitions),
        cmocka_unit_test(degrees_tell_whether_points_change_together),
        cmocka_unit_test(repetitions_are_called_different_seldom),
        cmocka_unit_test(a_tenth_is_found),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
