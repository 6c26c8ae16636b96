/* Tests of ranks and threads that share cores: flags, and withheld ratios. */
#include "bench/collect/tests/collected.h"

static void too_many_threads_are_oversubscribed(void **state)
{
    struct fake_run run;
    char path[128];
    fake_open(&run, "name: crowd\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "place: {oversubscribe: allow}\nmatrix: {ranks: [1, 2]}\n");
    for (long ranks = 1; ranks <= 2; ranks++)
        fake_add(&run, &(struct fake_launch){
                           .ranks = ranks, .strategy = "allreduce", .seed = 1, .step_ms = 20});
    struct summary s = collect(&run);
    assert_string_equal(cell(&s.points[1], COLUMN_oversubscribed),
                        ""); /* unknown, as the machine is */
    summary_free(&s);
    snprintf(path, sizeof path, "%s/manifest.json", run.dir);
    fake_write(path, "{\"machine\": {\"usable_cores\": 1}}");
    s = collect(&run);
    assert_string_equal(cell(&s.points[0], COLUMN_oversubscribed), "0");
    assert_string_equal(cell(&s.points[1], COLUMN_oversubscribed), "1");
    NEAR(s.points[1].scaling.speedup.mid, 1);
    assert_string_equal(cell(&s.points[1], COLUMN_efficiency),
                        ""); /* withheld, because ranks share cores */
    assert_string_equal(cell(&s.points[1], COLUMN_karp_flatt), "");
    assert_string_equal(s.points[1].flags, "ci_not_met oversubscribed");
    summary_free(&s);
    fake_write(path, "{");
    struct error e = {.status = OK};
    assert_int_equal(summary_collect(&s, &run.spec, run.dir, &run.journal, &e), ERR_DATA);
    assert_string_equal(e.file, path);
    summary_free(&s);
    fake_close(&run);
}

/* Shared cores leave times valid, but withhold everything about scaling. */
static void points_that_share_cores_claim_nothing(void **state)
{
    struct fake_run run;
    char path[128];
    fake_open(&run, "name: crowd\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "scaling: strong\nmeasure: {time: {precision: 10%}}\n"
                    "place: {oversubscribe: allow}\nmatrix: {ranks: [1, 2, 4]}\n");
    for (int block = 0; block < 6; block++)
        for (long ranks = 1; ranks <= 4; ranks *= 2)
            fake_add(&run, &(struct fake_launch){.ranks = ranks,
                                                 .strategy = "allreduce",
                                                 .block = block,
                                                 .seed = 1,
                                                 .step_ms = (100 + block) / (double)ranks});
    snprintf(path, sizeof path, "%s/manifest.json", run.dir);
    fake_write(path, "{\"machine\": {\"usable_cores\": 2}}");
    struct summary s = collect(&run);
    const struct point_summary *own = &s.points[1], *shared = &s.points[2];
    static const enum column_id withheld[] = {
        COLUMN_speedup_lo,    COLUMN_speedup_hi,    COLUMN_images_per_s_lo,
        COLUMN_efficiency,    COLUMN_efficiency_lo, COLUMN_images_per_s_hi,
        COLUMN_efficiency_hi, COLUMN_karp_flatt,    COLUMN_karp_flatt_lo};
    for (size_t i = 0; i < sizeof withheld / sizeof *withheld; i++) {
        assert_string_not_equal(cell(own, withheld[i]), "");
        assert_string_equal(cell(shared, withheld[i]), "");
    }
    NEAR(shared->scaling.speedup.mid, 4);
    NEAR(shared->step_ms.lo, 25);
    NEAR(shared->step_ms.hi, 26.25);
    assert_true(shared->precision_met);
    char *text = print(&s);
    assert_line(text, "  (oversubscribed: several ranks share a core; not a scaling result)\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Emulated hosts have one rank each and share one machine's cores; the machine's manifest has their
 * link. */
static void hosts_beyond_the_cores_are_oversubscribed(void **state)
{
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

/* Hosts of an emulated site are one machine by definition. Other nodes that are one machine may
 * share cores. */
static void nodes_of_one_machine_are_flagged(void **state)
{
    static const char *const sites[] = {"emulated", "{kind: ssh, machines: [m1, m2]}", "slurm"};
    for (int i = 1; i < 6; i++) { /* a site of one emulated node is refused */
        struct fake_run run;
        char spec[256];
        snprintf(spec, sizeof spec,
                 "name: one\nsite: %s\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                 "sync: {strategy: ring}\nranks: 2\nnodes: %d\n",
                 sites[i % 3], 1 + i / 3);
        fake_open(&run, spec);
        fake_add(&run,
                 &(struct fake_launch){.ranks = 2, .strategy = "ring", .seed = 1, .step_ms = 20});
        struct summary s = collect(&run);
        bool flagged = strstr(s.points[0].flags, "shared_machine") != NULL;
        assert_int_equal(flagged, i > 3);
        char *text = print(&s);
        assert_int_equal(strstr(text, "  (several nodes are one machine)\n") != NULL, flagged);
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

/* With a margin of 0.5 ms a sleep replaces at least 5 ms of compute. */
static void replay_that_cannot_be_true_is_doubted(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: replay\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "compute: {kind: replay, rate: 40}\nplace: {oversubscribe: allow}\n"
                    "sync: {strategy: ring}\nmatrix: {ranks: [2, 4]}\nbaseline: {ranks: 2}\n");
    for (long ranks = 2; ranks <= 4; ranks += 2)
        fake_add(&run, &(struct fake_launch){
                           .ranks = ranks,
                           .strategy = "ring",
                           .work = "\"compute\":\"replayed\",\"sleep_margin_ns\":500000,",
                           .seed = 1,
                           .step_ms = ranks == 2 ? 20 : 4});
    struct summary s = collect(&run);
    assert_string_equal(s.points[0].flags, "ci_not_met replayed");
    assert_string_equal(s.points[1].flags, "ci_not_met replayed short_replay");
    assert_string_equal(cell(&s.points[1], COLUMN_smallest_step_ms), "5");
    char *text = print(&s);
    assert_line(text, "  (too short for replay: a sleep replaces at least 5 ms of compute)\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_threads_are_oversubscribed),
        cmocka_unit_test(points_that_share_cores_claim_nothing),
        cmocka_unit_test(hosts_beyond_the_cores_are_oversubscribed),
        cmocka_unit_test(nodes_of_one_machine_are_flagged),
        cmocka_unit_test(replay_that_cannot_be_true_is_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
