/* Tests of the summary, with expected numbers by hand. */
#include "bench/collect/series.h"
#include "bench/collect/tests/collected.h"

/* Shares of a step, from durations of a millisecond or more in whole nanoseconds. */
static void assert_share(double pct, double wanted)
{
    assert_true(fabs(pct - wanted) < 1e-4);
}

static void the_base_is_summarised(void **state)
{
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
    assert_true(p->precision_met); /* half width 2.5 of 102.5 ms */
    NEAR(p->rates.images_per_s.mid, 256 / 0.1025);
    NEAR(p->rates.gflop_per_s, 256 / 0.1025 * 3e6 / 1e9);
    NEAR(p->scaling.speedup.mid, 1);
    assert_true(isnan(p->scaling.speedup.lo));
    NEAR(p->scaling.efficiency.mid, 1);
    assert_true(isnan(p->scaling.karp_flatt.mid));
    NEAR(p->shares.compute_pct, 96);
    NEAR(p->shares.comm_pct, 0);
    assert_string_equal(cell(p, COLUMN_step_ms_median), "102.5");
    assert_string_equal(cell(p, COLUMN_speedup), "1");
    assert_string_equal(cell(p, COLUMN_speedup_lo), "");
    assert_string_equal(cell(p, COLUMN_ci_level), "0.96875");
    assert_string_equal(cell(p, COLUMN_base), "1");
    assert_string_equal(cell(p, COLUMN_base_point), p->point->id);
    assert_string_equal(cell(p, COLUMN_dataset), "mnist"); /* mnist was used, though digits were
                                                              requested */
    assert_string_equal(cell(p, COLUMN_seed), "1");
    assert_string_equal(cell(p, COLUMN_epoch_s_median), "");
    summary_free(&s);
    fake_close(&run);
}

static void speedups_are_paired_by_block(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    NEAR(p->scaling.speedup.mid, 1.74);
    NEAR(p->scaling.speedup.lo, 1.5);
    NEAR(p->scaling.speedup.hi, 2.0);
    NEAR(p->scaling.efficiency.mid, 0.87);
    NEAR(p->scaling.bytes_ratio, 1);
    NEAR(p->scaling.karp_flatt.mid, (1 / 1.74 - 0.5) / 0.5);
    NEAR(p->scaling.efficiency.lo, 0.75);
    NEAR(p->scaling.efficiency.hi, 1.0);
    NEAR(p->scaling.karp_flatt.lo, 0);
    NEAR(p->scaling.karp_flatt.hi, (1 / 1.5 - 0.5) / 0.5);
    NEAR(p->rates.images_per_s.lo, 256e3 / p->step_ms.hi);
    NEAR(p->rates.images_per_s.hi, 256e3 / p->step_ms.lo);
    /* 20 % exposed: the first rank waits 4 %, the second not at all */
    assert_share(p->shares.wait_pct, 2);
    assert_share(p->shares.comm_pct, 18);
    assert_share(p->shares.compute_pct, 75);
    assert_int_equal(p->last.rank, 1);
    NEAR(p->last.pct, 100);
    assert_string_equal(cell(p, COLUMN_efficiency), "0.87");
    assert_string_equal(cell(p, COLUMN_base_step_ms), "102.5");
    assert_string_equal(cell(p, COLUMN_batch_per_rank), "128");
    assert_string_equal(cell(p, COLUMN_bound), "0|1");
    assert_string_equal(cell(p, COLUMN_weights_equal), "1");
    summary_free(&s);
    fake_close(&run);
}

/* The peer computes the 3,000,000 FLOPs of the network as written. */
static void expect_work_of_peers(const struct point_summary *ours,
                                 const struct point_summary *theirs)
{
    assert_string_equal(cell(ours, COLUMN_workload), "train_cnn");
    assert_string_equal(cell(ours, COLUMN_flops_per_image), "3000000");
    assert_string_equal(cell(ours, COLUMN_flops_done_per_image), "900000");
    assert_string_equal(cell(ours, COLUMN_savings), "winograd dead_outputs");
    NEAR(ours->rates.gflop_per_s, 128 / 0.1025 * 3e6 / 1e9);
    NEAR(ours->rates.gflop_done_per_s, 128 / 0.1025 * 9e5 / 1e9);
    NEAR(ours->beside_peer.work_ratio, 3 / 0.9);
    NEAR(ours->beside_peer.rate_ratio, 1.74 / (3 / 0.9));
    assert_string_equal(cell(theirs, COLUMN_flops_done_per_image), "");
    assert_string_equal(cell(theirs, COLUMN_savings), "");
}

static void expect_memory_of_peers(const struct point_summary *ours,
                                   const struct point_summary *theirs)
{
    assert_string_equal(cell(ours, COLUMN_data_mib), "40.5");
    assert_string_equal(cell(ours, COLUMN_memory_mib), "50");
    assert_string_equal(cell(ours, COLUMN_growth_mib), "30");
    assert_string_equal(cell(theirs, COLUMN_memory_mib), "80");
    assert_string_equal(cell(ours, COLUMN_peer_memory_ratio), "0.625");
    assert_string_equal(cell(ours, COLUMN_peer_growth_ratio), "0.5");
}

/* The peer's last launch has no partner: it counts for its own time only. */
static void peers_are_compared_by_block(void **state)
{
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
    NEAR(ours->beside_peer.ratio.mid, 1.74);
    NEAR(ours->beside_peer.ratio.lo, 1.5);
    NEAR(ours->beside_peer.ratio.hi, 2.0);
    assert_string_equal(cell(ours, COLUMN_peer_point), s.points[theirs].point->id);
    assert_string_equal(cell(ours, COLUMN_peer_workload), "peer_torch");
    assert_string_equal(cell(ours, COLUMN_peer_images_per_s),
                        cell(&s.points[theirs], COLUMN_images_per_s));
    assert_string_equal(cell(ours, COLUMN_peer_pairs), "6");
    expect_work_of_peers(ours, &s.points[theirs]);
    expect_memory_of_peers(ours, &s.points[theirs]);
    assert_true(isnan(s.points[theirs].beside_peer.ratio.mid));
    assert_string_equal(cell(&s.points[theirs], COLUMN_peer_point), "");
    /* the point at two ranks has a peer, but nothing was measured */
    const struct point_summary *unmeasured = find(&s, &run, 2, "allreduce");
    assert_true(isnan(unmeasured->beside_peer.ratio.mid));
    assert_string_equal(cell(unmeasured, COLUMN_peer_ratio), "");
    assert_int_not_equal(unmeasured->peer, theirs);
    summary_free(&s);
    fake_close(&run);
}

/* Two peers: each has a ratio, and the columns peer_* are about the faster one. Points that differ
 * in kernels.plan have the same peers. */
static void the_fastest_peer_is_named(void **state)
{
    static const char spec[] = "name: peers\n"
                               "model: lenet_21k\n"
                               "train: {batch_per_rank: 128}\n"
                               "cases:\n"
                               "  - {label: fast}\n"
                               "  - {label: exact, kernels.plan: exact}\n"
                               "  - {label: torch, workload: peer_torch}\n"
                               "  - {label: onednn, workload: peer_onednn}\n"
                               "measure: {time: {launches: 6..6}}\n";
    struct fake_run run;
    fake_open(&run, spec);
    for (int block = 0; block < 6; block++) {
        add_peer_launch(&run, "train_cnn", block, 100);
        add_peer_launch(&run, "peer_torch", block, 300 + block);
        add_peer_launch(&run, "peer_onednn", block, 200 + block);
    }
    struct summary s = collect(&run);
    const struct point_summary *ours = &s.points[0];
    assert_int_equal(ours->peer, 3);
    assert_string_equal(cell(ours, COLUMN_peer_workload), "peer_onednn");
    NEAR(ours->beside_peer.ratio.mid, 2.025);
    NEAR(ours->beside[WORKLOAD_peer_onednn].ratio.mid, 2.025);
    NEAR(ours->beside[WORKLOAD_peer_torch].ratio.mid, 3.025);
    assert_string_equal(cell(ours, COLUMN_torch_ratio), "3.025");
    assert_string_equal(cell(ours, COLUMN_torch_ratio_lo), "3");
    assert_string_equal(cell(ours, COLUMN_torch_pairs), "6");
    assert_string_equal(cell(ours, COLUMN_onednn_ratio_hi), "2.05");
    assert_int_equal(s.points[1].point->peers[WORKLOAD_peer_torch], 2);
    assert_int_equal(s.points[1].point->peers[WORKLOAD_peer_onednn], 3);
    assert_string_equal(cell(&s.points[2], COLUMN_onednn_ratio), "");
    char *text = print(&s);
    assert_line(text, "2.02 [2.00, 2.05] x the images/s of peer_onednn");
    assert_line(text, "3.02 [3.00, 3.05] x the images/s of peer_torch");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* The network has 21840 numbers on 22 pages; half of sgd's state is on 12 pages. A difference of
 * more than 5 % and 8 pages is flagged, only under ZeRO. */
static void memory_is_compared_with_its_forecast(void **state)
{
    static const char spec[] = "name: memory\nmodel: lenet_21k\ntrain: {global_batch: 256}\n"
                               "matrix: {ranks: [2], sync.strategy: [allreduce, zero1]}\n";
    static const char *const measured[] = {
        "\"params_mib\":0.0834,\"grads_mib\":0.0834,\"state_mib\":0.0417,",
        "\"params_mib\":0.0834,\"grads_mib\":0.0834,\"state_mib\":0.0934,"};
    const double page = (double)sysconf(_SC_PAGESIZE) / 0x1p20;
    for (int i = 0; i < 2; i++) {
        struct fake_run run;
        fake_open(&run, spec);
        const char *const strategies[] = {"allreduce", "zero1"};
        for (int k = 0; k < 2; k++)
            fake_add(&run, &(struct fake_launch){.ranks = 2,
                                                 .strategy = strategies[k],
                                                 .seed = 1,
                                                 .step_ms = 1,
                                                 .memory = measured[i]});
        struct summary s = collect(&run);
        const struct point_summary *whole = find(&s, &run, 2, "allreduce"),
                                   *shared = find(&s, &run, 2, "zero1");
        const double net = 21840 * 4 / 0x1p20, all = i == 0 ? 0.2085 : 0.2602;
        NEAR(whole->memory.formula_mib.all, 3 * net);
        NEAR(shared->memory.forecast_mib.state, 12 * page);
        NEAR(shared->memory.formula_mib.all, 2.5 * net);
        NEAR(shared->memory.states_mib, all);
        assert_true(fabs(shared->memory.error_pct - 100 * (all / (56 * page) - 1)) < 1e-6);
        assert_true((strstr(shared->flags, "memory_off") != NULL) == (i == 1));
        assert_null(strstr(whole->flags, "memory_off"));
        summary_free(&s);
        fake_close(&run);
    }
}

static void a_block_without_base_gives_no_ratio(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    fake_add(&run, &(struct fake_launch){
                       .ranks = 2, .strategy = "allreduce", .block = 6, .seed = 1, .step_ms = 1});
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_int_equal(p->launches, 7);
    NEAR(p->scaling.speedup.mid, 1.74);
    summary_free(&s);
    fake_close(&run);
}

static void few_or_scattered_launches_are_flagged(void **state)
{
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
    assert_string_equal(few->flags, "ci_not_met seeds_missing");
    NEAR(few->step_ms.level, 0.5);
    assert_true(loose->step_ms.met); /* but 5 of 25 ms is 20 % */
    assert_string_equal(loose->flags, "ci_not_met seeds_missing");
    summary_free(&s);
    fake_close(&run);
}

/* The step is known to 1 %, the speed-up is not: all reported intervals count. */
static void scattered_ratios_are_flagged(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_blocks(&run);
    for (int block = 0; block < 6; block++) {
        struct fake_launch steady = {.ranks = 4, .strategy = "allreduce", .block = block};
        steady.seed = 1;
        steady.step_ms = 20 + 0.05 * block;
        fake_add(&run, &steady);
    }
    struct summary s = collect(&run);
    assert_true(find(&s, &run, 1, "none")->precision_met);
    assert_true(find(&s, &run, 4, "allreduce")->precision_met);
    assert_string_equal(find(&s, &run, 4, "allreduce")->flags, "seeds_missing");
    assert_false(find(&s, &run, 2, "allreduce")->precision_met);
    assert_string_equal(find(&s, &run, 2, "allreduce")->flags, "ci_not_met seeds_missing");
    summary_free(&s);
    fake_close(&run);
}

static void a_single_launch_has_no_interval(void **state)
{
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
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.0);
    add_accuracy(&run, 2, "allreduce", 2, 98.0);
    run.launches[0].wall_s = 10;
    run.launches[1].wall_s = 13;
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(p->status, "ok");
    NEAR(p->accuracy.test_acc_pct.mid, 97.5);
    assert_string_equal(cell(p, COLUMN_test_acc_pct), "97.5");
    assert_string_equal(cell(p, COLUMN_total_s_median), "11.5");
    assert_string_equal(cell(p, COLUMN_epoch_s_median), "2");
    assert_string_equal(cell(p, COLUMN_seed), "1 2");
    assert_string_equal(cell(p, COLUMN_seeds_missing), "0");
    assert_string_equal(cell(p, COLUMN_test_acc_lo), "97"); /* interval of two seeds: smallest to
                                                               largest */
    assert_string_equal(cell(p, COLUMN_test_acc_hi), "98");
    assert_string_equal(cell(p, COLUMN_test_acc_level), "0.5");
    assert_string_equal(p->flags, "");
    assert_string_equal(cell(p, COLUMN_step_ms_median), "");
    assert_string_equal(cell(p, COLUMN_launches), "0");
    summary_free(&s);
    fake_close(&run);
}

/* Accuracy runs wait for evaluation and checkpoints, and hold more memory. */
static void extremes_are_of_timed_launches(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.0); /* steps of 1 ms, which must not count */
    for (int rank = 0; rank < 2; rank++) {
        char path[128];
        snprintf(path, sizeof path, "%s/launch-0/rank.%d.jsonl", run.dir, rank);
        fake_edit(path, "\"timed\":false", "\"timed\":true");
        fake_edit(path, "\"timed_steps\":0,\"window_ns\":0",
                  "\"timed_steps\":1,\"window_ns\":1000000");
        fake_edit(path, rank == 0 ? "90.5" : "91.5", "500");
    }
    struct summary s = collect(&run);
    assert_string_equal(cell(find(&s, &run, 2, "allreduce"), COLUMN_rss_mib), "500");
    summary_free(&s);
    fake_add(&run,
             &(struct fake_launch){.ranks = 2, .strategy = "allreduce", .step_ms = 0.5, .seed = 1});
    s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(cell(p, COLUMN_rss_mib), "91.5");
    assert_string_equal(cell(p, COLUMN_step_max_ms), "0.5");
    summary_free(&s);
    fake_close(&run);
}

/* Two cases with the same options share one launch, which counts once. */
static void twins_share_their_launches(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: twins\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "cases: [{label: a, ranks: 1}, {label: b, matrix: {ranks: [1, 2]}}]\n");
    for (long ranks = 1; ranks <= 2; ranks++)
        fake_add(&run, &(struct fake_launch){
                           .ranks = ranks, .strategy = "allreduce", .step_ms = 20, .seed = 1});
    struct summary s = collect(&run);
    assert_int_equal(s.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(s.points[i].status, "ok");
        assert_int_equal(s.points[i].launches, 1);
    }
    assert_int_equal(s.n_timed, 2);
    assert_string_equal(cell(&s.points[0], COLUMN_case_name), "a");
    assert_string_equal(cell(&s.points[1], COLUMN_case_name), "b");
    write_both(&s, &run);
    struct summary again;
    struct error e;
    assert_int_equal(summary_read(&again, &run.spec, run.dir, &e), OK);
    assert_int_equal(again.n_timed, 2);
    assert_int_equal(again.points[1].launches, 1);
    summary_free(&again);
    struct series_list list;
    assert_int_equal(series_collect(&list, &s, &e), OK);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[0].name, "a");
    assert_string_equal(list.items[1].name, "b");
    series_free(&list);
    summary_free(&s);
    fake_close(&run);
}

/* Batch 64 per rank: twice the images in 1.25 times the time. */
static void weak_scaling_counts_images(void **state)
{
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
    NEAR(p->scaling.speedup.mid, 1.6);
    NEAR(p->scaling.efficiency.mid, 0.8);
    assert_true(isnan(p->scaling.karp_flatt.mid));
    assert_string_equal(cell(p, COLUMN_global_batch), "128");
    summary_free(&s);
    fake_close(&run);
}

/* The table names variants by their own names, also the default. */
static void variants_are_told_apart(void **state)
{
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
    assert_string_equal(summary_distinct(text, sizeof "gather_scatter, gather_scatter (mpich)", &s,
                                         COLUMN_strategy),
                        "gather_scatter, gather_scatter (mpich)");
    assert_string_equal(summary_distinct(text, 38, &s, COLUMN_strategy),
                        "gather_scatter and 1 more");
    summary_free(&s);
    fake_close(&run);
}

/* Batches in a caption are in ascending order, whatever the order of points. */
static void distinct_numbers_rise(void **state)
{
    struct fake_run run;
    char text[128];
    fake_open(&run, "name: batches\nmodel: lenet_21k\nranks: 1\n"
                    "matrix: {train.global_batch: [512, 64, 1024], kernels.plan: [fast, exact]}\n");
    struct summary s = collect(&run);
    assert_string_equal(summary_distinct(text, sizeof text, &s, COLUMN_global_batch),
                        "64, 512, 1024");
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_is_summarised),
        cmocka_unit_test(speedups_are_paired_by_block),
        cmocka_unit_test(peers_are_compared_by_block),
        cmocka_unit_test(the_fastest_peer_is_named),
        cmocka_unit_test(memory_is_compared_with_its_forecast),
        cmocka_unit_test(a_block_without_base_gives_no_ratio),
        cmocka_unit_test(few_or_scattered_launches_are_flagged),
        cmocka_unit_test(scattered_ratios_are_flagged),
        cmocka_unit_test(a_single_launch_has_no_interval),
        cmocka_unit_test(accuracy_is_the_median_of_seeds),
        cmocka_unit_test(extremes_are_of_timed_launches),
        cmocka_unit_test(twins_share_their_launches),
        cmocka_unit_test(weak_scaling_counts_images),
        cmocka_unit_test(variants_are_told_apart),
        cmocka_unit_test(distinct_numbers_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
