/* What a campaign expects to come, from made-up journals: the launches that precision will take are
 * part of it. */
#include "bench/runner/launch_order.h"

#include <math.h>

#include "bench/spec/tests/spec_file.h"

enum { POINTS = 2, MOST = 64 };

/* Two points, ranks=1 being the base of ranks=2. */
struct plan {
    struct spec spec;
    struct journal journal;
    struct journal_launch launches[MOST];
    struct launch_order order;
};

static void plan_begin(struct plan *p, const char *measure)
{
    char text[1000];
    struct error e;
    *p = (struct plan){.journal = {.launches = NULL}};
    snprintf(text, sizeof text, BODY "matrix: {ranks: [1, 2]}\nmeasure: {%s}\n", measure);
    load(&p->spec, text, NULL);
    assert_int_equal(p->spec.n_points, POINTS);
    assert_int_equal(launch_order_open(&p->order, &p->spec, &p->journal, "/nowhere", 1, &e), OK);
    p->journal.launches = p->launches;
    p->order.step_ms = calloc(MOST, sizeof *p->order.step_ms);
    p->order.sample = calloc(MOST, sizeof *p->order.sample);
}

static void plan_end(struct plan *p)
{
    launch_order_close(&p->order);
    spec_free(&p->spec);
}

/* n timed launches of a point that took 5 s each, their steps 100 ms and up to so many % off. */
static void add_launches(struct plan *p, size_t point, int n, double off_pct)
{
    for (int i = 0; i < n; i++) {
        struct journal_launch *l = &p->launches[p->journal.n_launches];
        *l = (struct journal_launch){.run = RUN_TIME, .block = i, .status = LAUNCH_OK, .wall_s = 5};
        strcpy(l->point, p->spec.points[point].id);
        p->order.step_ms[p->journal.n_launches++] = 100 + off_pct * (2.0 * i / (n - 1) - 1);
    }
    p->order.n_step_ms = p->journal.n_launches;
}

static void assert_forecast(const struct plan *p, size_t left, double left_s, bool at_most)
{
    struct launch_forecast o = launch_order_forecast(&p->order);
    assert_int_equal(o.done, p->journal.n_launches);
    assert_int_equal(o.left, left);
    assert_true(left_s == o.left_s || (isnan(left_s) && isnan(o.left_s)));
    assert_int_equal(o.at_most, at_most);
}

#define SIX_TO_TWELVE "time: {launches: 6..12, precision: 5%}"

/* Six of each are too few for precision to be known before; until then all twelve may come. */
static void the_most_is_said_until_more_is_known(void **state)
{
    struct plan p;
    plan_begin(&p, SIX_TO_TWELVE);
    assert_forecast(&p, 24, NAN, true);
    add_launches(&p, 0, 2, 0.1);
    add_launches(&p, 1, 2, 0.1);
    assert_forecast(&p, 20, 100, true);
    plan_end(&p);
}

static void nothing_is_left_where_precision_is_met(void **state)
{
    struct plan p;
    plan_begin(&p, SIX_TO_TWELVE);
    add_launches(&p, 0, 6, 0.1);
    add_launches(&p, 1, 6, 4.9);
    assert_forecast(&p, 0, 0, false);
    plan_end(&p);
}

/* Half an interval that is 6 % of the median, 5 % being asked for: (6/5)^2 as many launches, 8.64
 * and so 9. The base comes along in each block, not the other way round. */
static void launches_for_precision_are_expected(void **state)
{
    struct plan p;
    plan_begin(&p, SIX_TO_TWELVE);
    add_launches(&p, 0, 6, 0.1);
    add_launches(&p, 1, 6, 6);
    assert_forecast(&p, 6, 30, false);
    plan_end(&p);
    plan_begin(&p, SIX_TO_TWELVE);
    add_launches(&p, 0, 6, 6);
    add_launches(&p, 1, 6, 0.1);
    assert_forecast(&p, 3, 15, false);
    plan_end(&p);
    plan_begin(&p, SIX_TO_TWELVE);
    add_launches(&p, 0, 6, 0.1);
    add_launches(&p, 1, 6, 20);
    assert_forecast(&p, 12, 60, true);
    plan_end(&p);
}

/* Sixty of seventy seconds are spent: two more launches of five seconds. */
static void the_budget_ends_it(void **state)
{
    struct plan p;
    plan_begin(&p, SIX_TO_TWELVE ", budget: 70s");
    add_launches(&p, 0, 6, 0.1);
    add_launches(&p, 1, 6, 20);
    assert_forecast(&p, 2, 10, true);
    plan_end(&p);
}

static void a_point_that_failed_takes_no_more(void **state)
{
    struct plan p;
    plan_begin(&p, SIX_TO_TWELVE);
    add_launches(&p, 0, 6, 0.1);
    add_launches(&p, 1, 2, 20);
    p.launches[7].status = LAUNCH_FAILED;
    assert_forecast(&p, 0, 0, false);
    plan_end(&p);
}

/* What is expected is what comes where the least is also the most. */
static void a_fixed_number_is_no_bound(void **state)
{
    struct plan p;
    plan_begin(&p, "time: {launches: 3..3}");
    add_launches(&p, 0, 2, 20);
    add_launches(&p, 1, 1, 20);
    p.order.step_ms[2] = 100;
    assert_forecast(&p, 3, 15, false);
    plan_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_is_said_until_more_is_known),
        cmocka_unit_test(nothing_is_left_where_precision_is_met),
        cmocka_unit_test(launches_for_precision_are_expected),
        cmocka_unit_test(the_budget_ends_it),
        cmocka_unit_test(a_point_that_failed_takes_no_more),
        cmocka_unit_test(a_fixed_number_is_no_bound),
    };
    return cmocka_run_group_tests_name("forecast", tests, make_file, remove_file);
}
