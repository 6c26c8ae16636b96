/* From launches to the summary, the CSV files and the table: expected numbers by hand. */
#include "bench/tests/fake_run.h"

#include <locale.h>

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"
#include "bench/collect/summary.h"

static const char strong_spec[] = "name: synthetic\n"
                                  "scaling: strong\n"
                                  "model: lenet_21k\n"
                                  "data: {set: digits}\n"
                                  "train: {optimizer: adam, lr: 1e-3, global_batch: 256}\n"
                                  "matrix:\n"
                                  "  ranks: [1, 2, 4, 8]\n"
                                  "  sync.strategy: [none, allreduce]\n"
                                  "exclude:\n"
                                  "  - {ranks: 1, sync.strategy: allreduce}\n"
                                  "  - {ranks: 8, sync.strategy: none}\n"
                                  "baseline: {ranks: 1, sync.strategy: none}\n"
                                  "measure:\n"
                                  "  time: {launches: 6..12, precision: 5%}\n"
                                  "  accuracy: {seeds: [1, 2], test_acc_pct: \">= 96.5\"}\n";

static const struct point_summary *find(const struct summary *s, const struct fake_run *run,
                                        long ranks, const char *strategy)
{
    return &s->points[fake_point(run, ranks, strategy)];
}

static const char *cell(const struct point_summary *p, enum column_id id)
{
    return p->cells[id];
}

static struct summary collect(const struct fake_run *run)
{
    struct summary s;
    struct error e = {.status = OK};
    if (summary_collect(&s, &run->spec, run->dir, &run->journal, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return s;
}

/* Base: 100 to 105 ms over six blocks. At two ranks the ratios within blocks are 1.5 to 2.0, not in
 * order, so that pairing shows. */
static const double base_ms[] = {100, 101, 102, 103, 104, 105};
static const double ratios[] = {1.6, 1.7, 1.78, 1.82, 2.0, 1.5};

static void add_block(struct fake_run *run, int block)
{
    fake_add(
        run,
        &(struct fake_launch){
            .ranks = 1, .strategy = "none", .block = block, .seed = 1, .step_ms = base_ms[block]});
    fake_add(run, &(struct fake_launch){.ranks = 2,
                                        .strategy = "allreduce",
                                        .block = block,
                                        .seed = 1,
                                        .step_ms = base_ms[block] / ratios[block]});
}

static void add_blocks(struct fake_run *run)
{
    for (int block = 0; block < 6; block++)
        add_block(run, block);
}

static void add_accuracy(struct fake_run *run, long ranks, const char *strategy, uint64_t seed,
                         double pct)
{
    fake_add(run, &(struct fake_launch){
                      .ranks = ranks, .strategy = strategy, .seed = seed, .test_acc_pct = pct});
}

/* Shares of a step: durations of a millisecond and more in whole nanoseconds. */
static void assert_share(double pct, double wanted)
{
    assert_true(fabs(pct - wanted) < 1e-4);
}

static void the_base_is_summarised(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 1, "none");
    assert_string_equal(p->status, "ok");
    assert_int_equal(p->launches, 6);
    NEAR(p->step_ms.mid, 102.5);
    NEAR(p->step_ms.lo, 100);
    NEAR(p->step_ms.hi, 105);
    NEAR(p->step_ms.level, 0.96875);
    assert_true(p->precision_met); /* 2.5 of 102.5 ms */
    NEAR(p->images_per_s, 256 / 0.1025);
    NEAR(p->gflop_per_s, 256 / 0.1025 * 3e6 / 1e9);
    NEAR(p->speedup.mid, 1);
    assert_true(isnan(p->speedup.lo));
    NEAR(p->efficiency, 1);
    assert_true(isnan(p->karp_flatt));
    NEAR(p->compute_pct, 96);
    NEAR(p->comm_pct, 0);
    assert_string_equal(cell(p, COLUMN_step_ms_median), "102.5");
    assert_string_equal(cell(p, COLUMN_speedup), "1");
    assert_string_equal(cell(p, COLUMN_speedup_lo), "");
    assert_string_equal(cell(p, COLUMN_ci_level), "0.96875");
    assert_string_equal(cell(p, COLUMN_base), "1");
    assert_string_equal(cell(p, COLUMN_base_point), p->point->id);
    assert_string_equal(cell(p, COLUMN_dataset), "mnist"); /* used, though digits were asked for */
    assert_string_equal(cell(p, COLUMN_seed), "1");
    assert_string_equal(cell(p, COLUMN_epoch_s_median), "");
    summary_free(&s);
    fake_close(&run);
}

static void speedups_are_paired_by_block(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    NEAR(p->speedup.mid, 1.74);
    NEAR(p->speedup.lo, 1.5);
    NEAR(p->speedup.hi, 2.0);
    NEAR(p->efficiency, 0.87);
    NEAR(p->karp_flatt, (1 / 1.74 - 0.5) / 0.5);
    /* Exposed 20 %; the first rank waits 4 %, the second not at all. */
    assert_share(p->wait_pct, 2);
    assert_share(p->comm_pct, 18);
    assert_share(p->compute_pct, 75);
    assert_int_equal(p->last_rank, 1);
    NEAR(p->last_rank_pct, 100);
    assert_string_equal(cell(p, COLUMN_efficiency), "0.87");
    assert_string_equal(cell(p, COLUMN_base_step_ms), "102.5");
    assert_string_equal(cell(p, COLUMN_batch_per_rank), "128");
    assert_string_equal(cell(p, COLUMN_bound), "0|1");
    assert_string_equal(cell(p, COLUMN_weights_equal), "1");
    summary_free(&s);
    fake_close(&run);
}

/* An interrupted block has no partner; it counts for the time but not for the ratio. */
static const char peer_spec[] = "name: peers\n"
                                "model: lenet_21k\n"
                                "train: {batch_per_rank: 128}\n"
                                "matrix:\n"
                                "  ranks: [1, 2]\n"
                                "  workload: [train_cnn, peer_torch]\n"
                                "measure: {time: {launches: 6..6}}\n";

/* Of 90.5 MiB the data set has 40.5 here and 10.5 there, libraries 20; what is really done, our
 * trainer alone tells. */
static void add_peer_launch(struct fake_run *run, const char *workload, int block, double step_ms)
{
    bool ours = strcmp(workload, "train_cnn") == 0;
    fake_add(run, &(struct fake_launch){.ranks = 1,
                                        .strategy = "allreduce",
                                        .workload = workload,
                                        .work = ours ? "\"flops_done_forward\":400000,"
                                                       "\"flops_done_backward\":500000,"
                                                       "\"savings\":\"winograd dead_outputs\","
                                                     : NULL,
                                        .memory = ours ? "\"data_mib\":40.5,\"libraries_mib\":20.0,"
                                                       : "\"data_mib\":10.5,\"libraries_mib\":20,",
                                        .block = block,
                                        .seed = 1,
                                        .step_ms = step_ms});
}

/* The last launch of the peer has no partner and counts for its own time only. */
static void peers_are_compared_by_block(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, peer_spec);
    for (int block = 0; block < 6; block++) {
        add_peer_launch(&run, "train_cnn", block, base_ms[block]);
        add_peer_launch(&run, "peer_torch", block, base_ms[block] * ratios[block]);
    }
    add_peer_launch(&run, "peer_torch", 6, 1000);
    struct summary s = collect(&run);
    size_t theirs = fake_point_of(&run, "peer_torch", 1, "allreduce", "usual");
    const struct point_summary *ours = find(&s, &run, 1, "allreduce");
    assert_int_equal(ours->peer, theirs);
    NEAR(ours->peer_ratio.mid, 1.74);
    NEAR(ours->peer_ratio.lo, 1.5);
    NEAR(ours->peer_ratio.hi, 2.0);
    assert_string_equal(cell(ours, COLUMN_peer_point), s.points[theirs].point->id);
    assert_string_equal(cell(ours, COLUMN_peer_workload), "peer_torch");
    assert_string_equal(cell(ours, COLUMN_peer_images_per_s),
                        cell(&s.points[theirs], COLUMN_images_per_s));
    assert_string_equal(cell(ours, COLUMN_workload), "train_cnn");
    assert_string_equal(cell(ours, COLUMN_flops_per_image), "3000000");
    assert_string_equal(cell(ours, COLUMN_flops_done_per_image), "900000");
    assert_string_equal(cell(ours, COLUMN_savings), "winograd dead_outputs");
    NEAR(ours->gflop_per_s, 128 / 0.1025 * 3e6 / 1e9);
    NEAR(ours->gflop_done_per_s, 128 / 0.1025 * 9e5 / 1e9);
    assert_string_equal(cell(&s.points[theirs], COLUMN_flops_done_per_image), "");
    assert_string_equal(cell(&s.points[theirs], COLUMN_savings), "");
    assert_string_equal(cell(ours, COLUMN_data_mib), "40.5");
    assert_string_equal(cell(ours, COLUMN_memory_mib), "50");
    assert_string_equal(cell(ours, COLUMN_growth_mib), "30");
    assert_string_equal(cell(&s.points[theirs], COLUMN_memory_mib), "80");
    assert_string_equal(cell(ours, COLUMN_peer_memory_ratio), "0.625");
    assert_string_equal(cell(ours, COLUMN_peer_growth_ratio), "0.5");
    assert_true(isnan(s.points[theirs].peer_ratio.mid));
    assert_string_equal(cell(&s.points[theirs], COLUMN_peer_point), "");
    /* At two ranks there is a peer, but nothing was measured. */
    const struct point_summary *unmeasured = find(&s, &run, 2, "allreduce");
    assert_true(isnan(unmeasured->peer_ratio.mid));
    assert_string_equal(cell(unmeasured, COLUMN_peer_ratio), "");
    assert_int_not_equal(unmeasured->peer, theirs);
    summary_free(&s);
    fake_close(&run);
}

static void a_block_without_base_gives_no_ratio(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    fake_add(&run, &(struct fake_launch){
                       .ranks = 2, .strategy = "allreduce", .block = 6, .seed = 1, .step_ms = 1});
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_int_equal(p->launches, 7);
    NEAR(p->speedup.mid, 1.74);
    summary_free(&s);
    fake_close(&run);
}

static void few_or_scattered_launches_are_flagged(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    for (int block = 0; block < 2; block++)
        add_block(&run, block);
    for (int block = 0; block < 6; block++)
        fake_add(&run, &(struct fake_launch){.ranks = 4,
                                             .strategy = "allreduce",
                                             .block = block,
                                             .seed = 1,
                                             .step_ms = 20 + 2 * block});
    struct summary s = collect(&run);
    const struct point_summary *few = find(&s, &run, 1, "none");
    const struct point_summary *loose = find(&s, &run, 4, "allreduce");
    assert_false(few->step_ms.met);
    assert_string_equal(few->flags, "ci_not_met");
    NEAR(few->step_ms.level, 0.5);
    assert_true(loose->step_ms.met); /* but 5 of 25 ms is 20 % */
    assert_string_equal(loose->flags, "ci_not_met");
    summary_free(&s);
    fake_close(&run);
}

static void a_single_launch_has_no_interval(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_block(&run, 0);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 1, "none");
    assert_string_equal(cell(p, COLUMN_step_ms_median), "100");
    assert_string_equal(cell(p, COLUMN_step_ms_lo), "");
    assert_string_equal(cell(p, COLUMN_ci_level), "");
    summary_free(&s);
    fake_close(&run);
}

static void accuracy_is_the_median_of_seeds(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.0);
    add_accuracy(&run, 2, "allreduce", 2, 98.0);
    run.launches[0].wall_s = 10;
    run.launches[1].wall_s = 13;
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "ok");
    NEAR(p->test_acc_pct, 97.5);
    assert_string_equal(cell(p, COLUMN_test_acc_pct), "97.5");
    assert_string_equal(cell(p, COLUMN_total_s_median), "11.5");
    assert_string_equal(cell(p, COLUMN_epoch_s_median), "2");
    assert_string_equal(cell(p, COLUMN_seed), "1 2");
    assert_string_equal(cell(p, COLUMN_step_ms_median), "");
    assert_string_equal(cell(p, COLUMN_launches), "0");
    summary_free(&s);
    fake_close(&run);
}

static void too_little_accuracy_is_unverified(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.0);
    add_accuracy(&run, 2, "allreduce", 2, 95.9);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "unverified");
    assert_string_equal(p->reason, "seed 2: 95.9 % test accuracy, >= 96.5 wanted");
    summary_free(&s);
    fake_close(&run);
}

static void weights_that_differ_are_unverified(void **state)
{
    (void)state;
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
    assert_string_equal(apart->status, "ok"); /* training apart is what it is for */
    assert_true(apart->compute_only);
    assert_string_equal(apart->flags, "ci_not_met compute_only");
    summary_free(&s);
    fake_close(&run);
}

static void weights_that_nobody_compared_are_unverified(void **state)
{
    (void)state;
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
    /* One rank has nobody to differ from. */
    assert_string_equal(find(&s, &run, 1, "none")->status, "ok");
    summary_free(&s);
    fake_close(&run);
}

static void failures_and_skips_keep_their_reason(void **state)
{
    (void)state;
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
    (void)state;
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

/* Interrupted launches leave their folder and no result. */
static void a_running_launch_does_not_count(void **state)
{
    (void)state;
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

/* Batch 64 a rank: twice the images in 1.25 times the time. */
static void weak_scaling_counts_images(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, "name: weak\nscaling: weak\nmodel: lenet_21k\ntrain: {batch_per_rank: 64}\n"
                    "matrix: {ranks: [1, 2]}\n");
    for (int block = 0; block < 6; block++) {
        fake_add(
            &run,
            &(struct fake_launch){
                .ranks = 1, .strategy = "allreduce", .block = block, .seed = 1, .step_ms = 20});
        fake_add(
            &run,
            &(struct fake_launch){
                .ranks = 2, .strategy = "allreduce", .block = block, .seed = 1, .step_ms = 25});
    }
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    NEAR(p->speedup.mid, 1.6);
    NEAR(p->efficiency, 0.8);
    assert_true(isnan(p->karp_flatt));
    assert_string_equal(cell(p, COLUMN_global_batch), "128");
    summary_free(&s);
    fake_close(&run);
}

/* The table tells them apart by their own names, whatever the spec calls them. */
static void variants_are_told_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"usual", "mpich"}, *const own[] = {"linear", "mpich"};
    struct fake_run run;
    fake_open(&run, "name: forms\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n"
                    "sync.strategy: gather_scatter\nmatrix: {sync.variant: [usual, mpich]}\n");
    for (size_t i = 0; i < 2; i++)
        fake_add(&run, &(struct fake_launch){.ranks = 2,
                                             .strategy = "gather_scatter",
                                             .variant = names[i],
                                             .seed = 1,
                                             .step_ms = 20 + (double)i});
    struct summary s = collect(&run);
    for (size_t i = 0; i < 2; i++) {
        const struct point_summary *p =
            &s.points[fake_point_in_form(&run, 2, "gather_scatter", names[i])];
        assert_string_equal(cell(p, COLUMN_strategy), "gather_scatter");
        assert_string_equal(cell(p, COLUMN_sync_variant), own[i]);
        NEAR(p->step_ms.mid, 20 + (double)i);
    }
    char text[128];
    assert_string_equal(summary_distinct(text, sizeof text, &s, COLUMN_strategy),
                        "gather_scatter, gather_scatter (mpich)");
    summary_free(&s);
    fake_close(&run);
}

/* Emulated hosts take a rank each, of the cores of one machine, which says what joins them. */
static void hosts_beyond_the_cores_are_oversubscribed(void **state)
{
    (void)state;
    struct fake_run run;
    char path[128];
    fake_open(&run, "name: hosts\nsite: emulated\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "place: {oversubscribe: allow}\nsync: {strategy: ring}\n"
                    "matrix: {ranks: [2, 4], nodes: [2, 4]}\n"
                    "exclude: [{ranks: 2, nodes: 4}, {ranks: 4, nodes: 2}]\n");
    for (long ranks = 2; ranks <= 4; ranks += 2)
        fake_add(&run, &(struct fake_launch){
                           .ranks = ranks, .strategy = "ring", .seed = 1, .step_ms = 20});
    snprintf(path, sizeof path, "%s/manifest.json", run.dir);
    fake_write(path, "{\"machine\": {\"usable_cores\": 2, \"link\": \"1gbit delay none\"}}");
    struct summary s = collect(&run);
    assert_string_equal(cell(&s.points[0], COLUMN_oversubscribed), "0");
    assert_string_equal(cell(&s.points[1], COLUMN_oversubscribed), "1");
    assert_string_equal(cell(&s.points[1], COLUMN_link), "1gbit delay none");
    summary_free(&s);
    fake_close(&run);
}

static void too_many_threads_are_oversubscribed(void **state)
{
    (void)state;
    struct fake_run run;
    char path[128];
    fake_open(&run, "name: crowd\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "place: {oversubscribe: allow}\nmatrix: {ranks: [1, 2]}\n");
    for (long ranks = 1; ranks <= 2; ranks++)
        fake_add(&run, &(struct fake_launch){
                           .ranks = ranks, .strategy = "allreduce", .seed = 1, .step_ms = 20});
    struct summary s = collect(&run);
    assert_string_equal(cell(&s.points[1], COLUMN_oversubscribed), ""); /* of an unknown machine */
    summary_free(&s);
    snprintf(path, sizeof path, "%s/manifest.json", run.dir);
    fake_write(path, "{\"machine\": {\"usable_cores\": 1}}");
    s = collect(&run);
    assert_string_equal(cell(&s.points[0], COLUMN_oversubscribed), "0");
    assert_string_equal(cell(&s.points[1], COLUMN_oversubscribed), "1");
    assert_string_equal(s.points[1].flags, "ci_not_met oversubscribed");
    summary_free(&s);
    fake_write(path, "{");
    struct error e = {.status = OK};
    assert_int_equal(summary_collect(&s, &run.spec, run.dir, &run.journal, &e), ERR_DATA);
    assert_string_equal(e.file, path);
    summary_free(&s);
    fake_close(&run);
}

/* --- CSV -----------------------------------------------------------------------------------------
 */

/* Reads one field of RFC 4180 in place; *end is the separator that followed, '\0' at the end. */
static char *next_field(char **text, char *end)
{
    char *start = *text, *to = start, *from = start;
    bool quoted = *from == '"';
    from += quoted;
    while (*from && (quoted || (*from != ',' && *from != '\n'))) {
        if (quoted && *from == '"' && *++from != '"')
            quoted = false;
        else
            *to++ = *from++;
    }
    *end = *from;
    *text = *from ? from + 1 : from;
    *to = '\0';
    return start;
}

static size_t count_fields(char **row)
{
    size_t n = 0;
    for (char end = ','; end == ','; n++)
        next_field(row, &end);
    return n;
}

static void write_both(const struct summary *s, const struct fake_run *run)
{
    struct error e = {.status = OK};
    if (summary_write(s, run->dir, &run->journal, &e) != OK)
        fail_msg("%s", e.text);
}

static char *read_of(const struct fake_run *run, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run->dir, name);
    return fake_read(path);
}

static void fill_troubled_run(struct fake_run *run)
{
    fake_open(run, strong_spec);
    add_blocks(run);
    fake_fail(run, 4, "allreduce", LAUNCH_FAILED, "said \"no, never\",\nthen left");
    fake_skip(run, 8, "allreduce", "8 ranks, 4 cores");
}

static void summary_csv_reads_back(void **state)
{
    (void)state;
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "summary.csv"), *at = text, end = ',';
    for (int i = 0; i < COLUMNS; i++) {
        assert_string_equal(next_field(&at, &end), column_get(i)->name);
        assert_int_equal(end, i + 1 < COLUMNS ? ',' : '\n');
    }
    for (size_t k = 0; k < s.n; k++)
        for (int i = 0; i < COLUMNS; i++) {
            assert_string_equal(next_field(&at, &end), s.points[k].cells[i]);
            assert_int_equal(end, i + 1 < COLUMNS ? ',' : '\n');
        }
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void raw_csv_has_a_row_for_every_launch(void **state)
{
    (void)state;
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "raw.csv"), *at = text;
    assert_non_null(strstr(text, "\nlaunch-0,"));
    assert_non_null(
        strstr(text, ",time,0,1,ok,,2,1,4,100,9.6,28.8,48,0,0,0,0,0,9.6,0,0,-1,,,0.5,"));
    assert_non_null(strstr(text, ",time,0,1,failed,\"said 'no, never', then left\",2,,"));
    size_t columns = count_fields(&at);
    for (size_t i = 0; i < s.n_launches; i++)
        assert_int_equal(count_fields(&at), columns);
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Fails unless the rows of a file below its header are these. */
static void assert_rows(const struct fake_run *run, const char *name, const char *wanted)
{
    char *text = read_of(run, name), *rows = strchr(text, '\n');
    assert_non_null(rows);
    assert_string_equal(rows + 1, wanted);
    free(text);
}

static void edit_rank(const struct fake_run *run, const char *launch, int rank, const char *from,
                      const char *to)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/rank.%d.jsonl", run->dir, launch, rank);
    fake_edit(path, from, to);
}

static void add_replay(const struct fake_run *run, const char *launch, int rank, const char *ns)
{
    char to[128];
    snprintf(to, sizeof to, "\"replays\":5,\"replay_ns\":%s,\"user_s\"", ns);
    edit_rank(run, launch, rank, "\"user_s\"", to);
}

/* 40 ms of computing, 10 of communication on the slower rank, steps of 44 to 49 ms: 6 to 1 ms of it
 * cost no time. The first rank waits 4 % of each. Of the 21840 numbers, the buckets of both dense
 * layers are summed in 7.6 ms, before backward ends after 19.2; the 5280 of the convolutions are
 * ready at its end. */
static void overlap_is_what_communication_did_not_cost(void **state)
{
    (void)state;
    static const char spec[] = "name: synthetic\nmodel: lenet_21k\ndata: {set: digits}\n"
                               "train: {global_batch: 256}\nranks: 2\n"
                               "sync: {strategy: bucketed, overlap: poll_tiles, cap_mib: 0.02, "
                               "first_cap_mib: 0}\n"
                               "measure: {replay: 5, time: {launches: 6..12}}\n";
    struct fake_run run;
    fake_open(&run, spec);
    for (int block = 0; block < 6; block++) {
        struct fake_launch l = {.ranks = 2, .block = block, .seed = 1};
        l.strategy = "none";
        l.step_ms = 40;
        fake_add(&run, &l);
        l.strategy = "bucketed";
        l.step_ms = 44 + block;
        const struct journal_launch *launch = fake_add(&run, &l);
        add_replay(&run, launch->launch, 0, "8000000");
        add_replay(&run, launch->launch, 1, "10000000");
    }
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "bucketed");
    assert_false(find(&s, &run, 2, "none")->point->requested);
    NEAR(p->overlap_share.mid, 0.35);
    NEAR(p->overlap_share.lo, 0.1);
    NEAR(p->overlap_share.hi, 0.6);
    NEAR(p->overlap_bound, 1 - 5280 / 21840.0);
    assert_string_equal(cell(p, COLUMN_comm_replay_ms), "10");
    assert_string_equal(cell(p, COLUMN_overlap_share), "0.35");
    assert_string_equal(cell(p, COLUMN_rank_wait_ms), "1.86|0");
    p = find(&s, &run, 2, "none");
    assert_string_equal(cell(p, COLUMN_overlap_share), "");
    assert_string_equal(cell(p, COLUMN_overlap_bound), "");
    assert_string_equal(cell(p, COLUMN_comm_replay_ms), "");
    summary_free(&s);
    fake_close(&run);
}

/* Before the epoch and evaluation that are there, which become the second, puts a first that took
 * 5 s on rank 0 and 4 s on rank 1. */
static void add_first_epoch(const struct fake_run *run, const char *launch)
{
    for (int rank = 0; rank < 2; rank++) {
        edit_rank(run, launch, rank, "\"type\":\"epoch\",\"epoch\":0",
                  "\"type\":\"epoch\",\"epoch\":1");
        edit_rank(run, launch, rank, "\"type\":\"eval\",\"epoch\":0",
                  "\"type\":\"eval\",\"epoch\":1");
        edit_rank(run, launch, rank, "{\"type\":\"epoch\"",
                  rank == 0 ? "{\"type\":\"epoch\",\"epoch\":0,\"seconds\":5,\"train_loss\":0.75,"
                              "\"train_acc_pct\":80,\"lr\":0.0005}\n{\"type\":\"epoch\""
                            : "{\"type\":\"epoch\",\"epoch\":0,\"seconds\":4,\"train_loss\":0.75,"
                              "\"train_acc_pct\":80,\"lr\":0.0005}\n{\"type\":\"epoch\"");
    }
}

static void epochs_csv_has_a_row_for_every_epoch(void **state)
{
    (void)state;
    struct fake_run run;
    char wanted[1024];
    fake_open(&run, strong_spec);
    add_block(&run, 0);
    add_accuracy(&run, 2, "allreduce", 7, 97.5);
    add_first_epoch(&run, "launch-2");
    edit_rank(&run, "launch-2", 1, "\"seconds\":2.0", "\"seconds\":2.25");
    edit_rank(&run, "launch-2", 1, "\"seconds\":0.2", "\"seconds\":0.125");
    struct summary s = collect(&run);
    write_both(&s, &run);
    const char *id = find(&s, &run, 2, "allreduce")->point->id;
    const char *label = find(&s, &run, 2, "allreduce")->point->label;
    snprintf(wanted, sizeof wanted,
             "%s,%s,launch-2,7,2,allreduce,256,1,0.0005,5,,0.75,80,,\n"
             "%s,%s,launch-2,7,2,allreduce,256,2,0.001,2.25,0.2,0.3,91.25,0.09,97.5\n",
             id, label, id, label);
    assert_rows(&run, "epochs.csv", wanted);
    summary_free(&s);
    fake_close(&run);
}

/* Ranks may leave epochs to one of them, and a launch that does not count has none. */
static void epochs_may_be_left_to_one_rank(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.5);
    add_accuracy(&run, 2, "allreduce", 2, 97.5);
    edit_rank(&run, "launch-0", 0, "{\"type\":\"epoch\"", "{\"type\":\"eval\"");
    edit_rank(&run, "launch-0", 0, "\"train_loss\"", "\"test_acc_pct\":1,\"test_loss\"");
    edit_rank(&run, "launch-0", 1, "\"lr\":0.001}", "\"lr\":null}");
    run.launches[1].status = LAUNCH_FAILED;
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "epochs.csv"), *at = strchr(text, '\n');
    assert_non_null(strstr(at, ",launch-0,1,2,allreduce,256,1,,2,"));
    assert_null(strstr(at, "launch-1"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void classes_csv_has_a_row_for_every_class(void **state)
{
    (void)state;
    struct fake_run run;
    char wanted[1024];
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 7, 97.5);
    for (int rank = 0; rank < 2; rank++)
        edit_rank(&run, "launch-0", rank, "\"test_loss\"",
                  "\"class_samples\":[6000,0,4000],\"class_correct\":[5970,0,3780],\"test_loss\"");
    add_first_epoch(&run, "launch-0");
    struct summary s = collect(&run);
    write_both(&s, &run);
    const char *id = find(&s, &run, 2, "allreduce")->point->id;
    const char *label = find(&s, &run, 2, "allreduce")->point->label;
    snprintf(wanted, sizeof wanted,
             "%s,%s,launch-0,7,0,6000,5970,99.5\n%s,%s,launch-0,7,1,0,0,\n"
             "%s,%s,launch-0,7,2,4000,3780,94.5\n",
             id, label, id, label, id, label);
    assert_rows(&run, "classes.csv", wanted);
    summary_free(&s);
    fake_close(&run);
}

/* So are runs from before classes were counted, and so is an evaluation that did not count them
 * after one that did. */
static void records_without_classes_have_no_rows(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 1, "none", 1, 97.5);
    add_accuracy(&run, 1, "none", 2, 97.5);
    edit_rank(&run, "launch-1", 0, "{\"type\":\"eval\"",
              "{\"type\":\"eval\",\"epoch\":0,\"seconds\":1,\"samples\":5,\"test_loss\":1,"
              "\"test_acc_pct\":40,\"class_samples\":[5],\"class_correct\":[2]}\n"
              "{\"type\":\"eval\"");
    struct summary s = collect(&run);
    write_both(&s, &run);
    assert_string_equal(find(&s, &run, 1, "none")->status, "ok");
    assert_rows(&run, "classes.csv", "");
    summary_free(&s);
    fake_close(&run);
}

/* 50 ms: 37.5 of compute in shares of 1, 3, 5 and 1 tenths, 10 of exposed communication; the second
 * rank arrives 2 ms after the first. */
static void steps_csv_has_a_row_for_every_step_and_rank(void **state)
{
    (void)state;
    struct fake_run run;
    char spec[1024], row[512];
    snprintf(spec, sizeof spec, "%s  steps_csv: true\n", strong_spec);
    fake_open(&run, spec);
    fake_add(&run, &(struct fake_launch){
                       .ranks = 2, .strategy = "allreduce", .block = 3, .seed = 1, .step_ms = 50});
    add_accuracy(&run, 2, "allreduce", 1, 97.5);
    edit_rank(&run, "launch-0", 1, "\"hash\":\"00\"", "\"hash\":\"00112233aabbccdd\"");
    struct summary s = collect(&run);
    write_both(&s, &run);
    const struct point *point = find(&s, &run, 2, "allreduce")->point;
    char *text = read_of(&run, "steps.csv"), *at = strchr(text, '\n') + 1;
    for (int i = 0; i < 10; i++) {
        bool second = i % 2;
        snprintf(row, sizeof row,
                 "%s,%s,launch-0,3,%d,1,%d,%d,128,50,3.75,11.25,18.75,0,11,10,0.5,%d,0,3.75,0,"
                 "0.01171875,%s\n",
                 point->id, point->label, second, i / 2 + 1, i > 1, second ? 0 : 2,
                 i == 1 ? "00112233aabbccdd" : "");
        assert_memory_equal(at, row, strlen(row));
        at += strlen(row);
    }
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void steps_csv_is_written_on_request_only(void **state)
{
    (void)state;
    struct fake_run run;
    char path[128];
    const char *file;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    for (size_t i = 0; (file = summary_file(&run.spec, i)) != NULL; i++) {
        snprintf(path, sizeof path, "%s/%s", run.dir, file);
        assert_int_equal(access(path, R_OK), 0);
    }
    snprintf(path, sizeof path, "%s/steps.csv", run.dir);
    assert_int_equal(access(path, F_OK), -1);
    summary_free(&s);
    fake_close(&run);
}

/* What cannot be read again is named, and the file of before stays. */
static void records_that_went_away_are_an_error(void **state)
{
    (void)state;
    struct fake_run run;
    struct error e = {.status = OK};
    char path[128];
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.5);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *before = read_of(&run, "epochs.csv");
    snprintf(path, sizeof path, "%s/launch-0/rank.1.jsonl", run.dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(summary_write(&s, run.dir, &run.journal, &e), ERR_DATA);
    assert_string_equal(e.file, path);
    char *after = read_of(&run, "epochs.csv");
    assert_string_equal(before, after);
    free(before);
    free(after);
    snprintf(path, sizeof path, "%s/epochs.csv.part", run.dir);
    assert_int_equal(access(path, F_OK), -1);
    summary_free(&s);
    fake_close(&run);
}

static void columns_csv_is_the_table_of_columns(void **state)
{
    (void)state;
    struct fake_run run;
    size_t n;
    char end;
    const struct column *columns = columns_all(&n);
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "columns.csv"), *at = text;
    assert_int_equal(count_fields(&at), 5);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(next_field(&at, &end), columns[i].file);
        assert_string_equal(next_field(&at, &end), columns[i].name);
        assert_string_equal(next_field(&at, &end), columns[i].type);
        assert_string_equal(next_field(&at, &end), columns[i].unit);
        assert_string_equal(next_field(&at, &end), columns[i].meaning);
        assert_int_equal(end, '\n');
    }
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* A column is known by its name: within a file no two have one, and its unit is the one that its
 * name ends in. */
static void columns_are_named_by_their_unit(void **state)
{
    (void)state;
    static const struct {
        const char *suffix, *unit;
    } suffixes[] = {{"_ms", "ms"}, {"_s", "s"}, {"_pct", "%"}, {"_mib", "MiB"}};
    size_t n;
    const struct column *columns = columns_all(&n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(columns[i].file, columns[k].file) == 0)
                assert_string_not_equal(columns[i].name, columns[k].name);
        for (size_t k = 0; k < 4; k++) {
            size_t length = strlen(columns[i].name), tail = strlen(suffixes[k].suffix);
            bool rate = length > 6 && strcmp(columns[i].name + length - 6, "_per_s") == 0;
            if (length > tail && !rate &&
                strcmp(columns[i].name + length - tail, suffixes[k].suffix) == 0)
                assert_string_equal(columns[i].unit, suffixes[k].unit);
        }
    }
}

/* A folder that cannot be written to is an error, and leaves nothing half written. */
static void an_unwritable_folder_is_an_error(void **state)
{
    (void)state;
    struct fake_run run;
    struct error e = {.status = OK};
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    assert_int_equal(summary_write(&s, "/nonexistent/folder", &run.journal, &e), ERR_SYSTEM);
    assert_non_null(strstr(e.text, "/nonexistent/folder/summary.csv"));
    summary_free(&s);
    fake_close(&run);
}

/* Makes a locale that writes 0,5 from the system's sources, where there are any. */
static bool use_comma_locale(const char *dir)
{
    char command[256];
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", dir);
    if (system(command) != 0 || setenv("LOCPATH", dir, 1) != 0)
        return false;
    return setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void files_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *summary = read_of(&run, "summary.csv"), *raw = read_of(&run, "raw.csv");
    summary_free(&s);
    bool comma = use_comma_locale(run.dir);
    s = collect(&run);
    write_both(&s, &run);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    char *summary_again = read_of(&run, "summary.csv"), *raw_again = read_of(&run, "raw.csv");
    assert_string_equal(summary, summary_again);
    assert_string_equal(raw, raw_again);
    free(summary);
    free(raw);
    free(summary_again);
    free(raw_again);
    summary_free(&s);
    fake_close(&run);
    if (!comma)
        skip();
}

/* --- Table
 * ----------------------------------------------------------------------------------------- */

static char *print(const struct summary *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    summary_print(out, s, "results/synthetic/latest", "1a2b3c4 clean");
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_line(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("no '%s' in\n%s", wanted, text);
}

/* In the console's table and below those for documents. */
static void work_done_and_memory_are_told(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, peer_spec);
    for (int block = 0; block < 6; block++) {
        add_peer_launch(&run, "train_cnn", block, base_ms[block]);
        add_peer_launch(&run, "peer_torch", block, base_ms[block] * ratios[block]);
    }
    struct summary s = collect(&run);
    static const char done[] = " ms a step, 3.75 GFLOP/s of the net as written, 1.12 done (saved: "
                               "winograd dead_outputs).\n";
    static const char memory[] = "Memory without the data: 50.0 MiB and 80.0, 0.62 of it; above "
                                 "what libraries take 30.0 and 60.0, 0.50 of it.\n";
    char *text = print(&s);
    assert_line(text, done);
    assert_line(text, memory);
    free(text);
    write_both(&s, &run);
    text = read_of(&run, "summary.md");
    assert_line(text, "as written, 1.12 done (saved: winograd dead\\_outputs).\n");
    assert_line(text, memory);
    free(text);
    text = read_of(&run, "summary.tex");
    assert_line(text, "\\end{tabular}\n\n\\noindent Base: ");
    assert_line(text, memory);
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void the_table_says_it_all(void **state)
{
    (void)state;
    struct fake_run run;
    fill_troubled_run(&run);
    add_accuracy(&run, 2, "allreduce", 1, 97.42);
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "synthetic  strong scaling | lenet_21k 21,840 params | mnist real | adam, "
                      "global batch 256 | none, allreduce | measured, local\n"
                      "node23 | MPICH 4.0.2 | BLIS 0.9.0 skx | 1a2b3c4 clean\n");
    assert_line(text, "102.5 [100.0, 105.0]      2498                base  100 %     96 %   0 %"
                      "   0 %         -\n");
    assert_line(text, "1.74 [1.50, 2.00]   87 %     75 %  18 %   2 %    97.4 %");
    assert_line(text, "8  allreduce         -         -  skipped: 8 ranks, 4 cores\n");
    assert_line(text, "4  allreduce         -         -  failed: said 'no, never', then left\n");
    assert_line(text, "Base: 1 rank, no communication, 102.5 [100.0, 105.0] ms a step, 7.49 "
                      "GFLOP/s.\n");
    assert_line(text, "Weights equal on all ranks after every step.\n");
    assert_line(
        text,
        "Why it bends (allreduce): 13.0 % lost at 2 ranks = 18.0 comm + 2.0 wait "
        "(rank 1 last in 100 % of steps) - 8.5 faster compute + 1.5 other; Karp-Flatt 14.9 %.\n");
    assert_line(text, "13 launches + 1 accuracy run in 28 s, 0.013 core-hours.\n");
    assert_line(text,
                "  tables   results/synthetic/latest/{summary,raw,epochs,classes,columns}.csv, "
                "summary.{md,tex}\n");
    assert_line(text, "  figures  results/synthetic/latest/{time,speedup,efficiency}.{svg,png}\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void documents_hold_the_table(void **state)
{
    (void)state;
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *markdown = read_of(&run, "summary.md"), *latex = read_of(&run, "summary.tex");
    assert_line(markdown,
                "| ranks | strategy | img/rank | launches | step ms [95 % CI] | images/s | "
                "speed-up [95 % CI] | eff. | compute | comm | wait | test acc | remarks |\n"
                "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
                "| 1 | none | 256 | 6 | 102.5 [100.0, 105.0] | 2498 | base | 100 % | 96 % | "
                "0 % | 0 % | - |  |\n");
    assert_line(markdown,
                "| 8 | allreduce | - | - | - | - | - | - | - | - | - | - | skipped: 8 ranks, "
                "4 cores |\n");
    assert_line(latex, "\\begin{tabular}{rrrrrrrrrrrrl}\n\\hline\nranks & strategy & img/rank & ");
    assert_line(latex, "\n2 & allreduce & 128 & 6 & ");
    assert_line(latex, " & 1.74 [1.50, 2.00] & 87 \\% & 75 \\% & 18 \\% & 2 \\% & - & ");
    assert_line(latex, "\\hline\n\\end{tabular}\n");
    free(markdown);
    free(latex);
    summary_free(&s);
    fake_close(&run);
}

/* Reasons may quote anything. */
static void documents_escape_what_is_theirs(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    fake_fail(&run, 4, "none", LAUNCH_FAILED, "50% of a|b_c & {d} \\ <e> #1 ~^$");
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *markdown = read_of(&run, "summary.md"), *latex = read_of(&run, "summary.tex");
    assert_line(markdown, "failed: 50% of a\\|b\\_c & {d} \\\\ \\<e> #1 ~^$ |\n");
    assert_line(latex, "failed: 50\\% of a|b\\_c \\& \\{d\\} \\textbackslash{} \\textless{}e"
                       "\\textgreater{} \\#1 \\textasciitilde{}\\textasciicircum{}\\$ \\\\\n");
    free(markdown);
    free(latex);
    summary_free(&s);
    fake_close(&run);
}

/* What was not seen to be equal is not said to be. */
static void unequal_weights_are_not_praised(void **state)
{
    (void)state;
    struct fake_run run;
    fill_troubled_run(&run);
    fake_add(
        &run,
        &(struct fake_launch){
            .ranks = 4, .strategy = "allreduce", .step_ms = 30, .seed = 1, .weights_differ = true});
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_null(strstr(text, "Weights equal"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void an_empty_campaign_prints(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, strong_spec);
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "skipped: no launch finished\n");
    assert_line(text, "0 launches + 0 accuracy runs in 0.0 s");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "Base:"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void a_single_point_prints(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, "name: one\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n");
    fake_add(&run,
             &(struct fake_launch){.ranks = 2, .strategy = "allreduce", .seed = 1, .step_ms = 20});
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "20.00      3200");
    assert_line(text, "(too few launches for 95 %)\n");
    assert_null(strstr(text, "nan"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void every_column_is_listed(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    columns_print(out);
    assert_int_equal(fclose(out), 0);
    for (int i = 0; i < COLUMNS; i++)
        assert_line(text, column_get(i)->name);
    assert_line(text, "\nraw.csv: a row a launch, failed ones included\n");
    assert_line(text, "  step_ms_median     REAL  ms         time of a step, slowest rank");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_is_summarised),
        cmocka_unit_test(speedups_are_paired_by_block),
        cmocka_unit_test(peers_are_compared_by_block),
        cmocka_unit_test(a_block_without_base_gives_no_ratio),
        cmocka_unit_test(overlap_is_what_communication_did_not_cost),
        cmocka_unit_test(few_or_scattered_launches_are_flagged),
        cmocka_unit_test(a_single_launch_has_no_interval),
        cmocka_unit_test(accuracy_is_the_median_of_seeds),
        cmocka_unit_test(too_little_accuracy_is_unverified),
        cmocka_unit_test(weights_that_differ_are_unverified),
        cmocka_unit_test(weights_that_nobody_compared_are_unverified),
        cmocka_unit_test(failures_and_skips_keep_their_reason),
        cmocka_unit_test(records_that_do_not_read_fail_their_point),
        cmocka_unit_test(a_running_launch_does_not_count),
        cmocka_unit_test(weak_scaling_counts_images),
        cmocka_unit_test(variants_are_told_apart),
        cmocka_unit_test(too_many_threads_are_oversubscribed),
        cmocka_unit_test(hosts_beyond_the_cores_are_oversubscribed),
        cmocka_unit_test(summary_csv_reads_back),
        cmocka_unit_test(raw_csv_has_a_row_for_every_launch),
        cmocka_unit_test(epochs_csv_has_a_row_for_every_epoch),
        cmocka_unit_test(epochs_may_be_left_to_one_rank),
        cmocka_unit_test(classes_csv_has_a_row_for_every_class),
        cmocka_unit_test(records_without_classes_have_no_rows),
        cmocka_unit_test(steps_csv_has_a_row_for_every_step_and_rank),
        cmocka_unit_test(steps_csv_is_written_on_request_only),
        cmocka_unit_test(records_that_went_away_are_an_error),
        cmocka_unit_test(columns_csv_is_the_table_of_columns),
        cmocka_unit_test(columns_are_named_by_their_unit),
        cmocka_unit_test(an_unwritable_folder_is_an_error),
        cmocka_unit_test(files_do_not_depend_on_the_locale),
        cmocka_unit_test(work_done_and_memory_are_told),
        cmocka_unit_test(the_table_says_it_all),
        cmocka_unit_test(documents_hold_the_table),
        cmocka_unit_test(documents_escape_what_is_theirs),
        cmocka_unit_test(unequal_weights_are_not_praised),
        cmocka_unit_test(an_empty_campaign_prints),
        cmocka_unit_test(a_single_point_prints),
        cmocka_unit_test(every_column_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
