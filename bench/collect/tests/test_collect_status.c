/* Tests of status and flags of points: failed, skipped, unverified, incomplete. */
#include "bench/collect/tests/collected.h"

/* A failed launch that another replaced is kept in raw.csv, but fails nothing. */
static void a_failure_that_was_made_good_fails_nothing(void **state)
{
    struct fake_run run;
    for (int retried = 0; retried < 2; retried++) {
        fake_open(&run, strong_spec);
        fake_fail(&run, 2, "allreduce", LAUNCH_FAILED, "killed by signal 9 (Killed)");
        run.launches[0].retried = retried;
        if (!retried)
            add_block(&run, 0);
        struct summary s = collect(&run);
        const struct point_summary *p = find(&s, &run, 2, "allreduce");
        assert_string_equal(p->status, retried ? "skipped" : "ok");
        assert_int_equal(p->failed_launches, 1);
        assert_int_equal(p->lost_launches, 0);
        assert_string_equal(s.launches[0].reason, "killed by signal 9 (Killed)");
        if (!retried)
            NEAR(p->scaling.speedup.mid, 1.6);
        summary_free(&s);
        fake_close(&run);
    }
}

/* One seed of two is missing, also if the other ran twice. Ranks that train apart have no seeds. */
static void seeds_that_are_missing_are_flagged(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.0);
    add_accuracy(&run, 2, "allreduce", 1, 97.0);
    fake_add(&run, &(struct fake_launch){.ranks = 2, .strategy = "none", .step_ms = 50});
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "ok");
    assert_string_equal(p->flags, "seeds_missing");
    assert_string_equal(cell(p, COLUMN_seeds_missing), "1");
    assert_string_equal(cell(find(&s, &run, 2, "none"), COLUMN_seeds_missing), "");
    assert_string_equal(find(&s, &run, 4, "allreduce")->flags,
                        ""); /* a skipped point has no flags */
    summary_free(&s);
    fake_close(&run);
}

static const char timed_case_spec[] =
    "name: timed\n"
    "model: lenet_21k\n"
    "train.global_batch: 256\n"
    "ranks: 2\n"
    "cases:\n"
    "  - {label: trained, sync.strategy: allreduce}\n"
    "  - {label: timed, sync.strategy: bucketed, measure.accuracy.run: false}\n"
    "measure: {time: {launches: 6}, accuracy: {seeds: [1, 2, 3]}}\n"
    "figures: []\n";

static void a_case_without_accuracy_runs_lacks_no_seeds(void **state)
{
    struct fake_run run;
    fake_open(&run, timed_case_spec);
    fake_add(&run, &(struct fake_launch){.ranks = 2, .strategy = "allreduce", .step_ms = 50});
    fake_add(&run, &(struct fake_launch){.ranks = 2, .strategy = "bucketed", .step_ms = 50});
    struct summary s = collect(&run);
    assert_string_equal(cell(find(&s, &run, 2, "allreduce"), COLUMN_seeds_missing), "3");
    assert_string_equal(cell(find(&s, &run, 2, "bucketed"), COLUMN_seeds_missing), "");
    assert_null(strstr(find(&s, &run, 2, "bucketed")->flags, "seeds_missing"));
    summary_free(&s);
    fake_close(&run);
}

static void too_little_accuracy_is_unverified(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.0);
    add_accuracy(&run, 2, "allreduce", 2, 96.48);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "unverified");
    assert_string_equal(p->reason, "seed 2: test accuracy 96.48 %, required >= 96.5");
    summary_free(&s);
    fake_close(&run);
}

static const char target_spec[] = "name: target\n"
                                  "scaling: strong\n"
                                  "model: lenet_21k\n"
                                  "train: {global_batch: 256, epochs: 4, target_acc_pct: 97}\n"
                                  "ranks: 2\n"
                                  "measure: {time: {launches: 0}, accuracy: {seeds: [1, 2, 3]}}\n"
                                  "figures: []\n";

/* Adds an accuracy run: one point more per epoch of two seconds, up to `pct`. */
static void add_to_target(struct fake_run *run, uint64_t seed, double pct, int epochs)
{
    fake_add(run, &(struct fake_launch){.ranks = 2,
                                        .strategy = "allreduce",
                                        .seed = seed,
                                        .test_acc_pct = pct,
                                        .epochs = epochs,
                                        .work = "\"target_acc_pct\":97,"});
}

static void time_to_a_target_is_that_of_all_seeds(void **state)
{
    struct fake_run run;
    fake_open(&run, target_spec);
    add_to_target(&run, 1, 97.1, 3);
    add_to_target(&run, 2, 97.5, 2);
    add_to_target(&run, 3, 97, 4);
    struct summary s = collect(&run);
    assert_string_equal(s.points[0].status, "ok");
    NEAR(s.points[0].accuracy.to_target_s.mid, 6);
    NEAR(s.points[0].accuracy.to_target_s.lo, 4);
    NEAR(s.points[0].accuracy.to_target_s.hi, 8);
    assert_string_equal(cell(&s.points[0], COLUMN_to_target_epochs), "3");
    assert_string_equal(cell(&s.points[0], COLUMN_to_target_images), "180000");
    assert_string_equal(cell(&s.points[0], COLUMN_target_acc_pct), "97");
    summary_free(&s);
    fake_close(&run);
}

/* Sets the estimates of an epoch in the record of rank 0 of the run's launch `launch`. */
static void set_noise(const struct fake_run *run, int launch, int epoch, const char *norm2,
                      const char *variance)
{
    char path[128], from[64], to[192];
    snprintf(path, sizeof path, "%s/launch-%d/rank.0.jsonl", run->dir, launch);
    snprintf(from, sizeof from, "\"epoch\":%d,\"seconds\"", epoch);
    snprintf(to, sizeof to, "\"epoch\":%d,\"grad_norm2\":%s,\"grad_variance\":%s,\"seconds\"",
             epoch, norm2, variance);
    fake_edit(path, from, to);
}

/* Estimates of epochs are averaged before they are divided. A single one may be negative. */
static void the_noise_scale_is_a_ratio_of_means(void **state)
{
    struct fake_run run;
    fake_open(&run, target_spec);
    for (uint64_t seed = 1; seed <= 3; seed++)
        add_to_target(&run, seed, 97.1, 3);
    set_noise(&run, 0, 0, "0.5", "20");
    set_noise(&run, 0, 1, "-0.1", "40.0");
    set_noise(&run, 0, 2, "null", "null"); /* resumed at the end of the epoch */
    set_noise(&run, 1, 0, "2", "200");
    set_noise(&run, 2, 0, "-1", "200"); /* noise hides the mean gradient */
    struct summary s = collect(&run);
    NEAR(s.points[0].accuracy.noise_scale.mid, (60 / 0.4 + 100) / 2);
    assert_string_equal(cell(&s.points[0], COLUMN_noise_scale_lo), "100");
    assert_string_equal(cell(&s.points[0], COLUMN_noise_scale_hi), "150");
    write_both(&s, &run);
    char *epochs = read_of(&run, "epochs.csv");
    assert_line(epochs, ",0.5,20,40,");
    assert_line(epochs, ",-0.1,40,,");
    free(epochs);
    summary_free(&s);
    fake_close(&run);
}

/* Two seeds that reached the target do not represent all three. */
static void a_missed_target_is_unverified(void **state)
{
    struct fake_run run;
    fake_open(&run, target_spec);
    add_to_target(&run, 1, 97.1, 3);
    add_to_target(&run, 2, 96.98, 4);
    add_to_target(&run, 3, 97, 4);
    struct summary s = collect(&run);
    assert_string_equal(s.points[0].status, "unverified");
    assert_string_equal(
        s.points[0].reason,
        "seed 2: test accuracy 96.98 % after 4 epochs, below train.target_acc_pct = 97");
    assert_true(summary_fails(&s, 0));
    assert_true(isnan(s.points[0].accuracy.to_target_s.mid));
    assert_string_equal(cell(&s.points[0], COLUMN_to_target_s), "");
    assert_string_equal(cell(&s.points[0], COLUMN_to_target_epochs_hi), "");
    summary_free(&s);
    fake_close(&run);
}

/* Five seeds that reached the target do not represent six, of which one diverged. */
static void a_diverged_seed_leaves_time_to_a_target_unknown(void **state)
{
    struct fake_run run;
    fake_open(&run, target_spec);
    for (uint64_t seed = 1; seed <= 5; seed++)
        add_to_target(&run, seed, 97.1, 3);
    for (int diverged = 0; diverged < 2; diverged++) {
        if (diverged)
            fake_add(&run, &(struct fake_launch){.ranks = 2,
                                                 .strategy = "allreduce",
                                                 .seed = 6,
                                                 .test_acc_pct = 9.8,
                                                 .epochs = 4,
                                                 .work = "\"target_acc_pct\":97,",
                                                 .memory = "\"diverged_step\":17,"
                                                           "\"diverged\":\"loss is nan\","});
        struct summary s = collect(&run);
        const struct point_summary *p = &s.points[0];
        assert_string_equal(p->status, diverged ? "diverged" : "ok");
        NEAR(p->accuracy.test_acc_pct.mid, 97.1);
        assert_true(isnan(p->accuracy.to_target_s.mid) == diverged);
        assert_string_equal(cell(p, COLUMN_to_target_s), diverged ? "" : "6");
        assert_string_equal(cell(p, COLUMN_to_target_epochs), diverged ? "" : "3");
        assert_string_equal(cell(p, COLUMN_to_target_images_lo), diverged ? "" : "180000");
        summary_free(&s);
    }
    fake_close(&run);
}

static void weights_that_differ_are_unverified(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    fake_add(
        &run,
        &(struct fake_launch){
            .ranks = 2, .strategy = "allreduce", .step_ms = 50, .seed = 1, .weights_differ = true});
    fake_add(&run,
             &(struct fake_launch){
                 .ranks = 2, .strategy = "none", .step_ms = 50, .seed = 1, .weights_differ = true});
    struct summary s = collect(&run);
    const struct point_summary *exact = find(&s, &run, 2, "allreduce");
    const struct point_summary *apart = find(&s, &run, 2, "none");
    assert_string_equal(exact->status, "unverified");
    assert_string_equal(exact->reason, "weights differ between ranks in launch-0: step 3, rank 1");
    assert_string_equal(cell(exact, COLUMN_weights_equal), "0");
    assert_string_equal(apart->status, "ok"); /* ranks of strategy none may differ */
    assert_true(apart->compute_only);
    assert_string_equal(apart->flags, "ci_not_met compute_only");
    summary_free(&s);
    fake_close(&run);
}

/* A declared flaw does not make its point unverified, but its weights are not reported equal. */
static void weights_that_differ_by_a_declared_flaw_are_so_by_design(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: flaw\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "cases: [{label: flawed, ranks: 2, train.broadcast_init: false}]\n");
    fake_add(
        &run,
        &(struct fake_launch){
            .ranks = 2, .strategy = "allreduce", .step_ms = 50, .seed = 1, .weights_differ = true});
    struct summary s = collect(&run);
    assert_string_equal(s.points[0].status, "ok");
    assert_string_equal(s.points[0].flags, "ci_not_met by_design");
    assert_string_equal(cell(&s.points[0], COLUMN_weights_equal), "0");
    assert_string_equal(cell(&s.points[0], COLUMN_case_name), "flawed");
    char *text = print(&s);
    assert_null(strstr(text, "Weights are equal"));
    assert_line(text, "Weights differ between ranks by design at 1 point (flag by_design).");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void weights_that_nobody_compared_are_unverified(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    const struct fake_launch launches[] = {
        {.ranks = 1, .strategy = "none", .step_ms = 90, .seed = 1},
        {.ranks = 2, .strategy = "allreduce", .step_ms = 50, .seed = 1},
    };
    for (int i = 0; i < 2; i++) {
        fake_add(&run, &launches[i]);
        for (int rank = 0; rank < launches[i].ranks; rank++) {
            char path[512];
            snprintf(path, sizeof path, "%s/launch-%d/rank.%d.jsonl", run.dir, i, rank);
            fake_edit(path, "\"check\":\"step\",\"weights_equal\":true",
                      "\"check\":\"none\",\"weights_equal\":null");
        }
    }
    struct summary s = collect(&run);
    const struct point_summary *two = find(&s, &run, 2, "allreduce");
    assert_string_equal(two->status, "unverified");
    assert_string_equal(two->reason, "weights were not compared (measure.check: none)");
    assert_string_equal(cell(two, COLUMN_weights_equal), "");
    /* one rank has no other to differ from */
    assert_string_equal(find(&s, &run, 1, "none")->status, "ok");
    summary_free(&s);
    fake_close(&run);
}

/* Launches of one point on other data or with other kernels, timed or not, are a contradiction. A
 * program that records neither is none. */
static void launches_that_differ_are_unverified(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    const struct fake_launch launches[] = {
        {.ranks = 1, .strategy = "none", .step_ms = 90, .work = "\"isa\":\"avx2\","},
        {.ranks = 1, .strategy = "none", .step_ms = 90},
        {.ranks = 1, .strategy = "none", .step_ms = 9, .work = "\"isa\":\"avx512\","},
        {.ranks = 2, .strategy = "allreduce", .step_ms = 50, .work = "\"data_hash\":\"00aa\","},
        {.ranks = 2, .strategy = "allreduce", .test_acc_pct = 9, .work = "\"data_hash\":\"00bb\","},
        {.ranks = 2, .strategy = "none", .step_ms = 50, .work = "\"isa\":\"avx2\","},
        {.ranks = 2, .strategy = "none", .step_ms = 50},
    };
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        fake_add(&run, &launches[i]);
    struct summary s = collect(&run);
    const struct point_summary *one = find(&s, &run, 1, "none");
    const struct point_summary *two = find(&s, &run, 2, "allreduce");
    assert_string_equal(one->status, "unverified");
    assert_string_equal(one->reason,
                        "launches differ in isa: 'avx2' in launch-0, 'avx512' in launch-2");
    assert_string_equal(two->status, "unverified");
    assert_string_equal(two->reason,
                        "launches differ in data_hash: '00aa' in launch-3, '00bb' in launch-4");
    assert_string_equal(find(&s, &run, 2, "none")->status, "ok");
    summary_free(&s);
    fake_close(&run);
}

static void failures_and_skips_keep_their_reason(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    fake_fail(&run, 4, "allreduce", LAUNCH_FAILED, "rank 3 ended by signal 9");
    fake_fail(&run, 4, "none", LAUNCH_TIMEOUT, "more than 10min");
    fake_skip(&run, 8, "allreduce", "8 ranks need 8 cores,\nthis job may use \"4\"");
    struct summary s = collect(&run);
    assert_string_equal(find(&s, &run, 4, "allreduce")->status, "failed");
    assert_string_equal(find(&s, &run, 4, "allreduce")->reason, "rank 3 ended by signal 9");
    assert_string_equal(find(&s, &run, 4, "none")->status, "timeout");
    assert_string_equal(find(&s, &run, 8, "allreduce")->status, "skipped");
    assert_string_equal(find(&s, &run, 8, "allreduce")->reason,
                        "8 ranks need 8 cores, this job may use '4'");
    assert_string_equal(find(&s, &run, 2, "none")->status, "skipped");
    assert_string_equal(find(&s, &run, 2, "none")->reason, "no launch finished");
    assert_int_equal(s.n_timed, 14);
    NEAR(s.wall_s, 28);
    NEAR(s.core_s, 6 * 2 + 6 * 2 * 2 + 2 * 2 * 4);
    summary_free(&s);
    fake_close(&run);
}

static void records_that_do_not_read_fail_their_point(void **state)
{
    struct fake_run run;
    char path[128];
    fake_open(&run, strong_spec);
    add_blocks(&run);
    snprintf(path, sizeof path, "%s/launch-1/rank.1.jsonl", run.dir);
    fake_edit(path, "\"type\":\"end\"", "\"type\":\"step\"");
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "failed");
    assert_non_null(strstr(p->reason, "launch-1/rank.1.jsonl:7: step: 'epoch' is missing"));
    assert_int_equal(p->launches, 5);
    summary_free(&s);
    fake_close(&run);
}

/* Interrupted launches leave a folder without a result. */
static void a_running_launch_does_not_count(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    run.launches[11].status = LAUNCH_RUNNING;
    struct summary s = collect(&run);
    assert_int_equal(find(&s, &run, 2, "allreduce")->launches, 5);
    assert_string_equal(find(&s, &run, 2, "allreduce")->status, "ok");
    assert_int_equal(s.n_timed, 11);
    summary_free(&s);
    fake_close(&run);
}

/* Counts launches of an earlier spec, and their points. */
static void what_the_spec_does_not_ask_for_is_counted(void **state)
{
    static const char *const points[] = {"b00000000000", "a00000000000", "b00000000000",
                                         "c00000000000"};
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    for (size_t i = 0; i < 4; i++)
        fake_journal(&run, points[i], RUN_TIME);
    run.launches[run.journal.n_launches - 1].status = LAUNCH_RUNNING;
    struct summary s = collect(&run);
    assert_int_equal(s.n_unasked, 3);
    assert_int_equal(s.n_unasked_points, 3);
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_that_was_made_good_fails_nothing),
        cmocka_unit_test(seeds_that_are_missing_are_flagged),
        cmocka_unit_test(a_case_without_accuracy_runs_lacks_no_seeds),
        cmocka_unit_test(too_little_accuracy_is_unverified),
        cmocka_unit_test(time_to_a_target_is_that_of_all_seeds),
        cmocka_unit_test(the_noise_scale_is_a_ratio_of_means),
        cmocka_unit_test(a_missed_target_is_unverified),
        cmocka_unit_test(a_diverged_seed_leaves_time_to_a_target_unknown),
        cmocka_unit_test(weights_that_differ_are_unverified),
        cmocka_unit_test(weights_that_differ_by_a_declared_flaw_are_so_by_design),
        cmocka_unit_test(weights_that_nobody_compared_are_unverified),
        cmocka_unit_test(launches_that_differ_are_unverified),
        cmocka_unit_test(failures_and_skips_keep_their_reason),
        cmocka_unit_test(records_that_do_not_read_fail_their_point),
        cmocka_unit_test(a_running_launch_does_not_count),
        cmocka_unit_test(what_the_spec_does_not_ask_for_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
