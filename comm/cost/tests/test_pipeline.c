/* Pipeline schedules and cuts, without training: passes have no deadlock, memory and idle time
 * agree with the formulas, and cuts are optimal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "comm/cost/pipeline.h"

enum { STAGES = 6, MICROS = 13 };

/* ---- Order ---- */

/* End time of each pass of each stage; NAN: not yet run. A forward pass takes 1, a backward pass 2,
 * messages 0. */
struct clockwork {
    double forward[STAGES][MICROS], backward[STAGES][MICROS], busy_until[STAGES];
    int done[STAGES], kept[STAGES], kept_most[STAGES];
};

static double ready_at(const struct clockwork *c, struct pipeline_task task, int stage, int stages)
{
    if (!task.backward)
        return stage > 0 ? c->forward[stage - 1][task.micro] : 0;
    return stage + 1 < stages ? c->backward[stage + 1][task.micro] : c->forward[stage][task.micro];
}

static void do_task(struct clockwork *c, struct pipeline_task task, int stage, double ready)
{
    double *ends = task.backward ? c->backward[stage] : c->forward[stage];
    assert_true(isnan(ends[task.micro])); /* each pass runs once */
    assert_true(!task.backward || !isnan(c->forward[stage][task.micro]));
    c->busy_until[stage] = fmax(c->busy_until[stage], ready) + (task.backward ? 2 : 1);
    ends[task.micro] = c->busy_until[stage];
    c->kept[stage] += task.backward ? -1 : 1;
    if (c->kept[stage] > c->kept_most[stage])
        c->kept_most[stage] = c->kept[stage];
    c->done[stage]++;
}

/* Runs passes as soon as their inputs exist. Returns the end of the last pass. */
static double run(struct clockwork *c, enum pipeline_schedule schedule, int stages, int micros)
{
    double last = 0;
    *c = (struct clockwork){.done = {0}};
    for (int s = 0; s < stages; s++)
        for (int m = 0; m < micros; m++)
            c->forward[s][m] = c->backward[s][m] = NAN;
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < stages; s++) {
            if (c->done[s] == 2 * micros)
                continue;
            struct pipeline_task task = pipeline_task(schedule, s, stages, micros, c->done[s]);
            double ready = ready_at(c, task, s, stages);
            if (isnan(ready))
                continue;
            do_task(c, task, s, ready);
            moved = true;
        }
    }
    for (int s = 0; s < stages; s++) {
        assert_int_equal(c->done[s], 2 * micros); /* no deadlock */
        last = fmax(last, c->busy_until[s]);
    }
    return last;
}

static void schedules_can_be_done_and_leave_the_bubble(void **state)
{
    struct clockwork c;
    for (int schedule = 0; schedule < PIPELINE_SCHEDULES; schedule++)
        for (int stages = 1; stages <= STAGES; stages++)
            for (int micros = 1; micros <= MICROS; micros++) {
                double taken = run(&c, (enum pipeline_schedule)schedule, stages, micros);
                double idle = 1 - 3.0 * micros / taken;
                assert_true(fabs(idle - (stages - 1.0) / (micros + stages - 1)) < 1e-12);
            }
}

/* Backward passes also follow the order of micro-batches, the order of accumulation. */
static void schedules_keep_as_much_as_they_say(void **state)
{
    struct clockwork c;
    for (int schedule = 0; schedule < PIPELINE_SCHEDULES; schedule++)
        for (int stages = 1; stages <= STAGES; stages++)
            for (int micros = 1; micros <= MICROS; micros++) {
                enum pipeline_schedule s = (enum pipeline_schedule)schedule;
                run(&c, s, stages, micros);
                for (int stage = 0; stage < stages; stage++) {
                    int kept = pipeline_kept(s, stage, stages, micros);
                    assert_int_equal(c.kept_most[stage], kept);
                    if (s == PIPELINE_1f1b)
                        assert_true(kept <= stages - stage);
                    for (int m = 1; m < micros; m++)
                        assert_true(c.backward[stage][m] > c.backward[stage][m - 1]);
                }
            }
}

static void gpipe_keeps_all_micro_batches(void **state)
{
    assert_int_equal(pipeline_kept(PIPELINE_gpipe, 3, 4, 9), 9);
    assert_int_equal(pipeline_kept(PIPELINE_1f1b, 0, 4, 9), 4);
    assert_int_equal(pipeline_kept(PIPELINE_1f1b, 3, 4, 9), 1);
    assert_int_equal(pipeline_kept(PIPELINE_gpipe, 0, 1, 9), 1);
}

/* ---- Cuts ---- */

/* Returns the cost of the longest stage of the best cut, by trying all cuts. */
static double best_by_trial(const double *costs, const bool *has_params, int n, int stages)
{
    double best = INFINITY, sum = 0;
    bool able = false;
    if (stages == 1) {
        for (int i = 0; i < n; i++) {
            sum += costs[i];
            able |= has_params[i];
        }
        return able ? sum : INFINITY;
    }
    for (int end = 1; end < n; end++) {
        sum += costs[end - 1];
        able |= has_params[end - 1];
        double rest = best_by_trial(costs + end, has_params + end, n - end, stages - 1);
        if (able)
            best = fmin(best, fmax(sum, rest));
    }
    return best;
}

static double longest_of(const int *first, int stages, const double *costs, const bool *has_params)
{
    double longest = 0;
    for (int s = 0; s < stages; s++) {
        double sum = 0;
        bool able = false;
        assert_true(first[s] < first[s + 1]);
        for (int i = first[s]; i < first[s + 1]; i++) {
            sum += costs[i];
            able |= has_params[i];
        }
        assert_true(able);
        longest = fmax(longest, sum);
    }
    return longest;
}

static void cuts_are_the_best(void **state)
{
    enum { OPS = 9 };
    unsigned word = 1;
    for (int trial = 0; trial < 300; trial++) {
        double costs[OPS];
        bool has_params[OPS];
        int first[STAGES + 1], n = 1 + trial % OPS, stages = 1 + trial % 5;
        for (int i = 0; i < n; i++) {
            word = word * 1664525 + 1013904223;
            costs[i] = word >> 24;
            has_params[i] = (word >> 20) % 3 > 0;
        }
        double best = best_by_trial(costs, has_params, n, stages);
        bool found = pipeline_cut_ops(first, stages, costs, has_params, n);
        assert_int_equal(found, isfinite(best));
        if (!found)
            continue;
        assert_int_equal(first[0], 0);
        assert_int_equal(first[stages], n);
        assert_true(longest_of(first, stages, costs, has_params) == best);
    }
}

/* ---- Messages ---- */

static void neighbours_get_activations_and_gradients(void **state)
{
    struct pipeline_traffic t = pipeline_traffic(0, 100, 4, 32, 4);
    assert_int_equal(t.messages, 4);
    assert_int_equal(t.bytes, 100 * 32 * 4);
    t = pipeline_traffic(100, 30, 4, 32, 8);
    assert_int_equal(t.messages, 8);
    assert_int_equal(t.bytes, 130 * 32 * 8);
    assert_int_equal(pipeline_traffic(0, 0, 4, 32, 8).messages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_can_be_done_and_leave_the_bubble),
        cmocka_unit_test(schedules_keep_as_much_as_they_say),
        cmocka_unit_test(gpipe_keeps_all_micro_batches),
        cmocka_unit_test(cuts_are_the_best),
        cmocka_unit_test(neighbours_get_activations_and_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
