/* Chooses launches from artificial journals: additional launches and points, groups of three,
 * interruptions, failures. */
#include "bench/order/tests/order_fixture.h"

#include <string.h>

#define TWO(measure)   "matrix: {ranks: [1, 2]}\nmeasure: {" measure "}"
#define THREE(measure) "matrix: {ranks: [1, 2, 4]}\nmeasure: {" measure "}"

static long ranks_of(const struct campaign_fixture *f, const struct next_launch *next)
{
    return config_int(&f->spec.points[next->point].config, OPT_RANKS);
}

static double quiet(long ranks, int block)
{
    return 100.0 / (double)ranks + 0.01 * (block % 3);
}

/* Number of launches by ranks, and the blocks in which they ran. */
struct counts {
    size_t of[9];
    int first, last; /* block */
};

static void run_all(struct campaign_fixture *f, double (*step_ms)(long ranks, int block),
                    struct counts *counts)
{
    struct next_launch next;
    *counts = (struct counts){.first = 1000, .last = -1};
    while (fixture_next(f, &next)) {
        counts->of[ranks_of(f, &next)]++;
        counts->first = next.block < counts->first ? next.block : counts->first;
        counts->last = next.block > counts->last ? next.block : counts->last;
        fixture_run(f, &next, step_ms(ranks_of(f, &next), next.block));
    }
}

static void check(const struct counts *c, size_t one, size_t two, size_t four, int first, int last)
{
    assert_int_equal(c->of[1], one);
    assert_int_equal(c->of[2], two);
    assert_int_equal(c->of[4], four);
    assert_int_equal(c->first, first);
    assert_int_equal(c->last, last);
}

static void more_launches_are_more_blocks(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 6..6}"));
    run_all(&f, quiet, &c);
    check(&c, 6, 6, 0, 0, 5);
    fixture_go_on(&f, TWO("time: {launches: 8..8}"));
    run_all(&f, quiet, &c);
    check(&c, 2, 2, 0, 6, 7);
    fixture_go_on(&f, TWO("time: {launches: 4..4}"));
    assert_false(fixture_next(&f, &(struct next_launch){.point = 0}));
    fixture_end(&f);
}

static void a_new_point_comes_with_its_base(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 6..6}"));
    run_all(&f, quiet, &c);
    fixture_go_on(&f, THREE("time: {launches: 6..6}"));
    run_all(&f, quiet, &c);
    check(&c, 6, 0, 6, 6, 11);
    fixture_end(&f);
}

/* Calibration points come first in each block and have no accuracy runs. */
static void calibrations_come_before_replayed_points(void **state)
{
    struct campaign_fixture f;
    struct next_launch next;
    fixture_begin(&f, "compute: replay\nmatrix: {ranks: [1, 2, 4]}\n"
                      "measure: {time: {launches: 6..6}, accuracy: {seeds: [3]}}");
    for (int i = 0, accuracy = 0; i < 36 + 3; i++) {
        assert_true(fixture_next(&f, &next));
        bool calibrates = config_calibrates(&f.spec.points[next.point].config);
        bool timed = next.run == RUN_TIME;
        accuracy += !timed;
        assert_true(timed || !calibrates);
        assert_true(!timed || calibrates == ((i - accuracy) % 6 < 3));
        fixture_run(&f, &next, 10);
    }
    assert_false(fixture_next(&f, &next));
    fixture_end(&f);
}

static void accuracy_follows_the_first_block(void **state)
{
    struct campaign_fixture f;
    struct next_launch next;
    fixture_begin(&f, TWO("time: {launches: 2..2}, accuracy: {seeds: [3, 4]}"));
    for (int i = 0; i < 8; i++) {
        assert_true(fixture_next(&f, &next));
        bool accuracy = i >= 2 && i < 6;
        assert_int_equal(next.run, accuracy ? RUN_ACCURACY : RUN_TIME);
        if (accuracy)
            assert_int_equal(next.seed, i < 4 ? 3 : 4);
        fixture_run(&f, &next, 100);
    }
    assert_false(fixture_next(&f, &next));
    fixture_go_on(&f, TWO("time: {launches: 2..2}, accuracy: {seeds: [3, 4, 5]}"));
    for (int i = 0; i < 2; i++) {
        assert_true(fixture_next(&f, &next) && next.run == RUN_ACCURACY && next.seed == 5);
        fixture_run(&f, &next, 100);
    }
    assert_false(fixture_next(&f, &next));
    fixture_end(&f);
}

/* Steps of 4 ranks spread by up to 9 % until the ninth launch. */
static double noisy(long ranks, int block)
{
    return quiet(ranks, block) * (ranks == 4 && block < 9 ? 1 + 0.03 * (block % 4) : 1);
}

/* Many nodes come first, so that a job near its time limit can still run the smaller points. */
static void accuracy_runs_go_from_many_nodes_to_few(void **state)
{
    struct campaign_fixture f;
    struct next_launch next;
    static const long nodes[] = {4, 2, 1, 4, 2, 1};
    fixture_begin(&f, "sync.strategy: allreduce\nranks_per_node: 1\nmatrix: {nodes: [1, 4, 2]}\n"
                      "measure: {time: {launches: 1..1}, accuracy: {seeds: [3, 4]}}");
    for (int i = 0; i < 3; i++) {
        assert_true(fixture_next(&f, &next) && next.run == RUN_TIME);
        fixture_run(&f, &next, 10);
    }
    for (int i = 0; i < 6; i++) {
        assert_true(fixture_next(&f, &next) && next.run == RUN_ACCURACY);
        assert_int_equal(config_int(&f.spec.points[next.point].config, OPT_NODES), nodes[i]);
        assert_int_equal(next.seed, i < 3 ? 3 : 4);
        fixture_run(&f, &next, 10);
    }
    assert_false(fixture_next(&f, &next));
    fixture_end(&f);
}

/* Points are examined at 6, 9, 12, ... launches, never at 7 or 8. The base runs along. */
static void points_are_extended_in_groups_of_three(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, THREE("time: {launches: 6..20, precision: 5%}"));
    run_all(&f, noisy, &c);
    assert_int_equal(c.of[2], 6);
    assert_int_equal(c.of[1], c.of[4]);
    assert_true(c.of[4] > 9 && c.of[4] % 3 == 0);
    fixture_end(&f);
    fixture_begin(&f, THREE("time: {launches: 7..8, precision: 5%}"));
    run_all(&f, quiet, &c);
    check(&c, 8, 8, 8, 0, 7);
    fixture_end(&f);
}

/* The steps of 1 and 2 ranks vary together, so their ratio is exact. The steps of 4 ranks vary in
 * the opposite direction: their ratio is imprecise and the point gets more launches, although its
 * steps are precise. */
static double drifting(long ranks, int block)
{
    double way = block % 2 == 0 ? 1 : -1;
    return 100.0 / (double)ranks * (1 + 0.011 * way * (ranks == 4 ? -1 : 1));
}

static void ratios_are_looked_at(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, THREE("time: {launches: 6..9, precision: 5%}"));
    run_all(&f, drifting, &c);
    check(&c, 9, 6, 9, 0, 8);
    fixture_end(&f);
    fixture_begin(&f, THREE("time: {launches: 6..6, precision: 2%}"));
    run_all(&f, drifting, &c);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(launch_points_is_precise(&f.order.points, i),
                         config_int(&f.spec.points[i].config, OPT_RANKS) < 4);
    fixture_end(&f);
}

/* An interruption after or during any launch does not change the order. */
static void an_interrupted_campaign_goes_on_alike(void **state)
{
    static const char spec[] =
        THREE("time: {launches: 6..12, precision: 5%}, accuracy: {seeds: [1]}");
    struct campaign_fixture whole, cut;
    struct counts c;
    fixture_begin(&whole, spec);
    run_all(&whole, noisy, &c);
    for (size_t k = 0; k < whole.journal.n_launches; k++) {
        struct next_launch next;
        fixture_begin(&cut, spec);
        for (size_t i = 0; i < whole.journal.n_launches; i++) {
            const struct journal_launch *l = &whole.journal.launches[i];
            assert_true(fixture_next(&cut, &next));
            assert_string_equal(cut.spec.points[next.point].id, l->point);
            assert_true(next.run == l->run && next.block == l->block);
            if (i == k) {
                fixture_start(&cut, &next); /* the launch is killed */
                fixture_go_on(&cut, NULL);
                assert_true(fixture_next(&cut, &next));
                assert_string_equal(cut.spec.points[next.point].id, l->point);
                assert_int_equal(next.n_begins, 0);
            }
            fixture_run(&cut, &next, l->step_ms);
        }
        assert_false(fixture_next(&cut, &next));
        fixture_end(&cut);
    }
    fixture_end(&whole);
}

/* A launch is retried measure.retries times, each at the end of its block. Then the point has
 * failed. */
static void failures_are_tried_again(void **state)
{
    struct campaign_fixture f;
    struct next_launch next;
    char reason[32];
    fixture_begin(&f, TWO("time: {launches: 2..2}, retries: 3"));
    size_t failed = 0, ended = 0;
    while (fixture_next(&f, &next)) {
        if (ranks_of(&f, &next) == 2 && next.block == 1) {
            snprintf(reason, sizeof reason, "reason %zu", failed++);
            fixture_fail(&f, &next, reason, 1);
            assert_int_equal(next.number, failed);
            continue;
        }
        ended++;
        fixture_run(&f, &next, 100);
    }
    assert_int_equal(failed, 4);
    assert_int_equal(ended, 3);
    /* When the campaign is run again, only the point's missing place in the block is filled. */
    for (size_t i = 0; i < f.journal.n_launches; i++)
        f.journal.launches[i].retried = f.journal.launches[i].status == LAUNCH_FAILED;
    fixture_go_on(&f, NULL);
    assert_true(fixture_next(&f, &next) && next.block == 1 && ranks_of(&f, &next) == 2);
    fixture_run(&f, &next, 100);
    assert_false(fixture_next(&f, &next));
    fixture_end(&f);
}

static size_t tries_of(const char *measure, const char *reason, int exit_status, bool first_ends)
{
    struct campaign_fixture f;
    struct next_launch next;
    size_t failed = 0, base = 0;
    fixture_begin(&f, measure);
    while (fixture_next(&f, &next)) {
        bool fails = ranks_of(&f, &next) == 2 && (next.block > 0 || !first_ends);
        failed += fails;
        base += ranks_of(&f, &next) == 1;
        if (fails)
            fixture_fail(&f, &next, reason, exit_status);
        else
            fixture_run(&f, &next, 100);
    }
    assert_int_equal(base, 3);
    fixture_end(&f);
    return failed;
}

static void a_point_that_always_fails_alike_is_not_retried(void **state)
{
    static const char measure[] = TWO("time: {launches: 3..3}, retries: 5");
    assert_int_equal(tries_of(measure, "no such data", 1, false), 2);
    assert_int_equal(tries_of(measure, "no such data", 2, false), 1);
    assert_int_equal(tries_of(measure, "no such data", 3, true), 1);
    assert_int_equal(tries_of(measure, "killed", -1, true), 6);
}

/* A failed point keeps its places in blocks that always run, without launches. */
static void a_base_that_failed_fills_its_places_later(void **state)
{
    struct campaign_fixture f;
    struct next_launch next;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 6..6}"));
    while (fixture_next(&f, &next)) {
        if (ranks_of(&f, &next) == 1)
            fixture_fail(&f, &next, "no", 2);
        else
            fixture_run(&f, &next, 50);
    }
    f.journal.launches[0].retried |= f.journal.launches[0].status == LAUNCH_FAILED;
    f.journal.launches[1].retried |= f.journal.launches[1].status == LAUNCH_FAILED;
    fixture_go_on(&f, NULL);
    run_all(&f, quiet, &c);
    check(&c, 6, 0, 0, 0, 5);
    fixture_end(&f);
}

static void a_skipped_point_is_not_run(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 2..2}"));
    f.journal.skips = calloc(1, sizeof *f.journal.skips);
    strcpy(f.journal.skips[f.journal.n_skips++].point, f.spec.points[1].id);
    fixture_go_on(&f, NULL);
    run_all(&f, quiet, &c);
    check(&c, 2, 0, 0, 0, 1);
    fixture_end(&f);
}

/* Two points with the same options share their launches. */
static void twins_are_run_once(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, THREE("time: {launches: 2..2}"));
    strcpy(f.spec.points[2].id, f.spec.points[1].id);
    f.spec.points[2].twin = 1;
    fixture_go_on(&f, NULL);
    run_all(&f, quiet, &c);
    check(&c, 2, 2, 0, 0, 1);
    fixture_end(&f);
}

/* A row of a new case can have the options of an old row and another base. The shared launches are
 * compared with both bases. */
static void twins_are_compared_with_the_base_of_each(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, "matrix: {ranks: [1, 4]}\nmeasure: {time: {launches: 2..2}}");
    run_all(&f, quiet, &c);
    check(&c, 2, 0, 2, 0, 1);
    fixture_go_on(&f, "matrix: {ranks: [1, 2, 4, 8]}\nmeasure: {time: {launches: 2..2}}");
    strcpy(f.spec.points[3].id, f.spec.points[2].id);
    f.spec.points[3].twin = 2;
    f.spec.points[3].base_index = 1;
    fixture_go_on(&f, NULL);
    run_all(&f, quiet, &c);
    check(&c, 2, 2, 2, 2, 3);
    assert_int_equal(c.of[8], 0);
    fixture_end(&f);
}

/* Journals of an earlier version lack the points of blocks. Complete pairs count; missing launches
 * get new blocks. */
static void journals_without_blocks_are_resumed(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 3..3}"));
    for (int block = 0; block < 2; block++)
        for (size_t point = 0; point < 2; point++)
            if (block == 0 || point == 0)
                fixture_run(&f, &(struct next_launch){.point = point, .block = block}, 100);
    fixture_go_on(&f, NULL);
    run_all(&f, quiet, &c);
    check(&c, 2, 2, 0, 2, 3);
    fixture_end(&f);
}

/* Block 0 and started blocks always run. */
static void the_budget_ends_with_a_block(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 6..6}, budget: 1s"));
    run_all(&f, quiet, &c);
    check(&c, 1, 1, 0, 0, 0);
    fixture_go_on(&f, TWO("time: {launches: 6..6}, budget: 25s"));
    run_all(&f, quiet, &c);
    check(&c, 1, 1, 0, 1, 1);
    fixture_go_on(&f, THREE("time: {launches: 6..6}, budget: 25s"));
    run_all(&f, quiet, &c);
    assert_int_equal(c.of[4], 1); /* a first launch */
    fixture_end(&f);
}

/* Accuracy runs do not use the budget. Points with measure.accuracy.run: false have none. */
static void accuracy_runs_cost_no_budget(void **state)
{
    struct campaign_fixture f;
    struct counts c;
    fixture_begin(&f, TWO("time: {launches: 6..6}, accuracy: {seeds: [1, 2, 3]}, budget: 20s"));
    run_all(&f, quiet, &c);
    check(&c, 2 + 3, 2 + 3, 0, 0, 1);
    fixture_end(&f);
    fixture_begin(&f, "zip: {ranks: [1, 2], measure.accuracy.run: [true, false]}\nmeasure: "
                      "{time: {launches: 6..6}, accuracy: {seeds: [1, 2, 3]}, budget: 20s}");
    run_all(&f, quiet, &c);
    check(&c, 2 + 3, 2, 0, 0, 1);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_launches_are_more_blocks),
        cmocka_unit_test(a_new_point_comes_with_its_base),
        cmocka_unit_test(calibrations_come_before_replayed_points),
        cmocka_unit_test(accuracy_follows_the_first_block),
        cmocka_unit_test(accuracy_runs_go_from_many_nodes_to_few),
        cmocka_unit_test(points_are_extended_in_groups_of_three),
        cmocka_unit_test(ratios_are_looked_at),
        cmocka_unit_test(an_interrupted_campaign_goes_on_alike),
        cmocka_unit_test(failures_are_tried_again),
        cmocka_unit_test(a_point_that_always_fails_alike_is_not_retried),
        cmocka_unit_test(a_base_that_failed_fills_its_places_later),
        cmocka_unit_test(a_skipped_point_is_not_run),
        cmocka_unit_test(twins_are_run_once),
        cmocka_unit_test(twins_are_compared_with_the_base_of_each),
        cmocka_unit_test(journals_without_blocks_are_resumed),
        cmocka_unit_test(the_budget_ends_with_a_block),
        cmocka_unit_test(accuracy_runs_cost_no_budget),
    };
    return cmocka_run_group_tests_name("launch order", tests, make_file, remove_file);
}
