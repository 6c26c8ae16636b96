/* Tests of launches whose numbers must not count: diverged training, and points with failed
 * launches, above all a base. */
#include "bench/collect/tests/collected.h"

#define AT(step, text) "\"diverged_step\":" #step ",\"diverged\":\"" text "\","

/* Adds a launch whose loss became nan; each rank records when it saw that. */
static void add_diverged(struct fake_run *run, long ranks, const char *strategy, int block,
                         double step_ms, double test_acc_pct)
{
    fake_add(run, &(struct fake_launch){.ranks = ranks,
                                        .strategy = strategy,
                                        .block = block,
                                        .seed = 1,
                                        .step_ms = step_ms,
                                        .test_acc_pct = test_acc_pct,
                                        .memory = AT(17, "loss is nan")});
}

/* A diverged launch is a row of raw.csv and nothing else. */
static void a_diverged_point_has_no_ratio(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    add_diverged(&run, 4, "allreduce", 0, 30, 0);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 4, "allreduce");
    assert_string_equal(p->status, "diverged");
    assert_string_equal(p->reason, "loss is nan at step 17, a timed launch");
    assert_int_equal(p->launches, 0);
    assert_true(isnan(p->scaling.speedup.mid) && isnan(p->scaling.efficiency.mid) &&
                isnan(p->step_ms.mid));
    assert_string_equal(cell(p, COLUMN_status), "diverged");
    write_both(&s, &run);
    char *raw = read_of(&run, "raw.csv"), *text = print(&s);
    assert_line(raw, ",diverged,loss is nan at step 17,");
    assert_line(raw, ",17,"); /* 17 is diverged_step */
    assert_line(text, "  diverged: loss is nan at step 17, a timed launch\n");
    free(raw);
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Seed 1 diverged: the other seed's accuracy counts, but the point is in no ratio. */
static void a_diverged_seed_counts_in_no_median(void **state)
{
    struct fake_run run;
    char path[128];
    fake_open(&run, strong_spec);
    add_blocks(&run);
    add_diverged(&run, 2, "allreduce", 0, 0, 9.8);
    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/launch-12/rank.%d.jsonl", run.dir, rank);
        fake_edit(path, "\"train_loss\":0.3", "\"train_loss\":\"nan\"");
        fake_edit(path, "\"test_loss\":0.09", "\"test_loss\":\"-inf\"");
    }
    add_accuracy(&run, 2, "allreduce", 2, 97.5);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "diverged");
    assert_string_equal(p->reason, "loss is nan at step 17, seed 1");
    NEAR(p->accuracy.test_acc_pct.mid, 97.5);
    assert_int_equal(p->launches, 6); /* timed launches count */
    assert_true(isnan(p->scaling.speedup.mid));
    assert_true(summary_fails(&s, (size_t)(p - s.points))); /* fails, because the spec bounds
                                                               accuracy */
    write_both(&s, &run);
    char *epochs = read_of(&run, "epochs.csv");
    assert_line(epochs,
                ",1,diverged,2,allreduce,256,1,0.001,2,0.2,NaN,91.25,-Inf,9.8,,,,,,allreduce\n");
    free(epochs);
    summary_free(&s);
    fake_close(&run);
}

/* Steps that overflow have no update. The launch has 5 steps. */
static void most_steps_must_update_weights(void **state)
{
    for (int skipped = 2; skipped <= 3; skipped++) {
        struct fake_run run;
        char end[64];
        fake_open(&run, "name: one\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n");
        snprintf(end, sizeof end, "\"skipped_steps\":%d,", skipped);
        fake_add(&run, &(struct fake_launch){
                           .ranks = 2, .strategy = "allreduce", .step_ms = 20, .memory = end});
        struct summary s = collect(&run);
        assert_string_equal(s.points[0].status, skipped <= 2 ? "ok" : "unverified");
        if (skipped > 2)
            assert_non_null(strstr(s.points[0].reason, "3 of 5 steps skipped in "));
        summary_free(&s);
        fake_close(&run);
    }
}

static void a_diverged_base_is_no_base(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    add_diverged(&run, 1, "none", 0, 0, 9.8);
    struct summary s = collect(&run);
    const struct point_summary *base = find(&s, &run, 1, "none");
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(base->status, "diverged");
    assert_string_equal(p->status, "ok");
    assert_true(isnan(base->scaling.speedup.mid) && isnan(p->scaling.speedup.mid));
    assert_string_equal(cell(p, COLUMN_speedup), "");
    char *text = print(&s);
    assert_null(strstr(text, "Base:"));
    assert_null(strstr(text, "Efficiency"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Divergence makes a campaign fail only if the spec bounds accuracy. */
static void divergence_fails_what_is_bounded(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: one\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n");
    add_diverged(&run, 2, "allreduce", 0, 20, 0);
    struct summary s = collect(&run);
    assert_string_equal(s.points[0].status, "diverged");
    assert_false(summary_fails(&s, 0));
    summary_free(&s);
    fake_close(&run);
}

/* Only losses and accuracies may be NaN or Inf, in exactly these words. */
static void other_words_are_no_numbers(void **state)
{
    static const char *const edits[][3] = {
        {"\"train_loss\":0.3", "\"train_loss\":\"much\"", "epoch: 'train_loss' is not a number"},
        {"\"train_loss\":0.3", "\"train_loss\":\"NaN\"", "epoch: 'train_loss' is not a number"},
        {"\"lr\":0.001}", "\"lr\":\"nan\"}", "epoch: 'lr' is not a number"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct fake_run run;
        char path[128];
        fake_open(&run, strong_spec);
        add_accuracy(&run, 2, "allreduce", 1, 97.5);
        snprintf(path, sizeof path, "%s/launch-0/rank.1.jsonl", run.dir);
        fake_edit(path, edits[i][0], edits[i][1]);
        struct summary s = collect(&run);
        assert_string_equal(find(&s, &run, 2, "allreduce")->status, "failed");
        assert_line(find(&s, &run, 2, "allreduce")->reason, edits[i][2]);
        summary_free(&s);
        fake_close(&run);
    }
}

/* The rank that diverged first decides the step. */
static void the_first_rank_to_diverge_is_told(void **state)
{
    struct fake_run run;
    char path[128];
    fake_open(&run, strong_spec);
    add_diverged(&run, 2, "allreduce", 0, 30, 0);
    snprintf(path, sizeof path, "%s/launch-0/rank.1.jsonl", run.dir);
    fake_edit(path, AT(17, "loss is nan"), AT(16, "loss is infinite"));
    struct summary s = collect(&run);
    assert_string_equal(s.launches[0].reason, "loss is infinite at step 16");
    summary_free(&s);
    fake_close(&run);
}

/* Six blocks at two ranks; the base has the first n of them, and one more that failed. */
static struct summary collect_with_base(struct fake_run *run, int n)
{
    fake_open(run, strong_spec);
    for (int block = 0; block < 6; block++)
        fake_add(run, &(struct fake_launch){.ranks = 2,
                                            .strategy = "allreduce",
                                            .block = block,
                                            .seed = 1,
                                            .step_ms = base_ms[block] / ratios[block]});
    for (int block = 0; block < n; block++)
        fake_add(run, &(struct fake_launch){.ranks = 1,
                                            .strategy = "none",
                                            .block = block,
                                            .seed = 1,
                                            .step_ms = base_ms[block]});
    fake_fail(run, 1, "none", LAUNCH_FAILED, "exit status 1: out of memory");
    return collect(run);
}

static void ratios_to_a_failed_base_are_flagged(void **state)
{
    struct fake_run run;
    struct summary s = collect_with_base(&run, 3);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    NEAR(p->scaling.speedup.mid, 1.7);
    assert_int_equal(p->scaling.pairs, 3);
    assert_string_equal(cell(p, COLUMN_speedup_pairs), "3");
    assert_string_equal(p->flags, "ci_not_met seeds_missing base_incomplete");
    assert_string_equal(cell(find(&s, &run, 1, "none"), COLUMN_failed_launches), "1");
    char *text = print(&s);
    assert_line(text, "  (launches of its base failed)");
    assert_line(text, "; 1 of its 4 launches failed.\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* A single pair has no interval to show how little it means. */
static void one_pair_left_makes_no_ratio(void **state)
{
    struct fake_run run;
    struct summary s = collect_with_base(&run, 1);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_true(isnan(p->scaling.speedup.mid) && isnan(p->scaling.efficiency.mid));
    assert_string_equal(cell(p, COLUMN_speedup), "");
    assert_string_equal(p->flags, "ci_not_met seeds_missing base_incomplete");
    summary_free(&s);
    fake_close(&run);
}

/* A campaign that requests one launch per point compares it. */
static void one_launch_that_was_wanted_is_compared(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_block(&run, 0);
    struct summary s = collect(&run);
    NEAR(find(&s, &run, 2, "allreduce")->scaling.speedup.mid, 1.6);
    assert_null(strstr(find(&s, &run, 2, "allreduce")->flags, "base_incomplete"));
    summary_free(&s);
    fake_close(&run);
}

/* The dictionary lists every status. */
static void every_status_is_in_the_dictionary(void **state)
{
    for (int i = 0; i < POINT_STATUSES; i++)
        assert_line(column_get(COLUMN_status)->meaning, point_status_names()[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diverged_point_has_no_ratio),
        cmocka_unit_test(a_diverged_seed_counts_in_no_median),
        cmocka_unit_test(most_steps_must_update_weights),
        cmocka_unit_test(a_diverged_base_is_no_base),
        cmocka_unit_test(divergence_fails_what_is_bounded),
        cmocka_unit_test(other_words_are_no_numbers),
        cmocka_unit_test(the_first_rank_to_diverge_is_told),
        cmocka_unit_test(ratios_to_a_failed_base_are_flagged),
        cmocka_unit_test(one_pair_left_makes_no_ratio),
        cmocka_unit_test(one_launch_that_was_wanted_is_compared),
        cmocka_unit_test(every_status_is_in_the_dictionary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
