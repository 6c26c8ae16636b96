/* Real and replayed points and their calibrations, on a machine with 8 cores. */
#include "bench/spec/tests/spec_file.h"

#define STRONG "name: c\nmodel: lenet_21k\nscaling: strong\ntrain: {global_batch: 64}\n"

/* Compares points as "2/32 real": ranks, images of the largest batch, compute; the calibration
 * follows in brackets. */
static void assert_points(const char *text, const char *set, const char *expected)
{
    struct spec spec;
    char points[2048] = "";
    load(&spec, text, set);
    for (size_t i = 0; i < spec.n_points; i++) {
        const struct point *point = &spec.points[i];
        const struct config *c = &point->config;
        long ranks = config_int(c, OPT_RANKS), global = config_int(c, OPT_GLOBAL_BATCH);
        long batch = global > 0 ? (global + ranks - 1) / ranks : config_int(c, OPT_BATCH_PER_RANK);
        size_t used = strlen(points);
        snprintf(points + used, sizeof points - used, "%s%ld/%ld %s", i > 0 ? " | " : "", ranks,
                 batch, config_text(c, OPT_COMPUTE));
        used = strlen(points);
        if (point->calibration_index != i)
            snprintf(points + used, sizeof points - used, " [%zu]", point->calibration_index);
    }
    assert_string_equal(points, expected);
    spec_free(&spec);
}

static void test_calibrations_are_added(void **state)
{
    assert_points(STRONG "ranks: 2\n", NULL, "2/32 real");
    assert_points(STRONG "matrix: {ranks: [1, 2, 16]}\n", "compute=replay",
                  "1/64 replay [3] | 2/32 replay [4] | 16/4 replay [5] | 1/64 calibrate | "
                  "2/32 calibrate | 8/4 calibrate");
    assert_points(STRONG "compute: replay\nmatrix: {sync.strategy: [ring, allreduce]}\nranks: 3\n",
                  NULL, "3/22 replay [2] | 3/22 replay [2] | 3/22 calibrate");
    assert_points(STRONG "compute: replay\nranks: 3\ncases: [{label: a}, "
                         "{label: b, train.broadcast_init: false}]\n",
                  NULL, "3/22 replay [2] | 3/22 replay [2] | 3/22 calibrate");
    assert_points(STRONG "compute: replay\nranks: 8\nplace.threads_per_rank: 4\n", NULL,
                  "8/8 replay [1] | 2/8 calibrate");
    assert_points(STRONG "compute: replay\nranks: 8\ncompute.cores: 4\n", NULL,
                  "8/8 replay [1] | 4/8 calibrate");
    assert_points(STRONG "compute: {kind: replay, rate: 40}\nranks: 16\n", NULL, "16/4 replay");
    assert_points(STRONG "compute: replay\nranks: 2\ntrain.accumulate: 4\n", NULL,
                  "2/32 replay [1] | 2/8 calibrate"); /* batch of a micro-batch */
    assert_points(STRONG "compute: replay\nranks: 3\ntrain.remainder: drop\n", NULL,
                  "3/22 replay [1] | 3/21 calibrate");
    assert_points(STRONG "compute: replay\nranks: 4\nparallel.pipeline: 2\n", NULL,
                  "4/16 replay [1] | 4/32 calibrate"); /* whole network, batch of a replica */
}

static void test_simulated_points_replay_without_a_baseline(void **state)
{
    assert_points(STRONG "compute.rate: 40\nsite: {kind: simulated, rate: 10gbit, delay: 12us}\n"
                         "matrix: {ranks: [32, 64]}\nranks_per_node: 1\n",
                  NULL, "32/2 replay | 64/1 replay");
}

/* Each emulated host represents a machine of its own. */
static void test_hosts_are_calibrated_by_what_is_on_one(void **state)
{
    assert_points(STRONG "compute: replay\nsite: emulated\nranks: 4\nnodes: 4\n", NULL,
                  "4/16 replay [1] | 1/16 calibrate");
    assert_points(STRONG "compute: replay\nsite: emulated\nranks: 4\nnodes: 2\n", NULL,
                  "4/16 replay [1] | 2/16 calibrate");
}

static void test_auto_goes_by_cores(void **state)
{
    assert_points(STRONG "compute: auto\nmatrix: {ranks: [4, 8, 16]}\n", NULL,
                  "4/16 real | 8/8 real | 16/4 replay [3] | 8/4 calibrate");
    assert_points(STRONG "compute: auto\nmatrix: {ranks: [1, 16]}\nbaseline: {ranks: 1}\n",
                  "compute.cores=2", "1/64 real | 16/4 replay [2] | 2/4 calibrate");
    assert_points(STRONG "compute: auto\nsite: emulated\nmatrix: {nodes: [4, 16]}\n"
                         "ranks_per_node: 1\n",
                  NULL, "4/16 real | 16/4 replay [2] | 1/4 calibrate");
}

/* Labels do not show compute. Calibrations do not change labels and bases of other points. */
static void test_labels_and_bases(void **state)
{
    struct spec spec;
    load(&spec, STRONG "compute: auto\nmatrix: {ranks: [1, 16]}\n", NULL);
    assert_string_equal(spec.points[0].label, "ranks=1 compute=real");
    assert_string_equal(spec.points[1].label, "ranks=16 compute=replay");
    assert_string_equal(spec.points[2].label, "calibration ranks=8 batch_per_rank=4");
    assert_int_equal(spec.points[1].base_index, 0);
    assert_true(spec.points[0].base && !spec.points[2].base && !spec.points[2].requested);
    assert_string_equal(config_kind(&spec.points[0].config), "measured");
    assert_string_equal(config_kind(&spec.points[1].config), "replayed");
    spec_free(&spec);
    load(&spec, STRONG "compute: replay\nsite: emulated\nranks: 4\nnodes: 4\n", NULL);
    assert_string_equal(config_kind(&spec.points[0].config), "emulated and replayed");
    assert_string_equal(config_kind(&spec.points[1].config), "measured");
    spec_free(&spec);
}

static void test_what_cannot_be_replayed(void **state)
{
    refuse(STRONG "compute: replay\nworkload: peer_torch\n", NULL,
           "5:10: compute: replay is not supported by workload peer_torch. Use compute: real");
    refuse(STRONG "compute: replay\ntrain.batch_norm: sync\n", NULL,
           "6:19: train.batch_norm = sync sums statistics over ranks in batch norm layers, but "
           "compute = replay runs no layers. Use train.batch_norm: local or frozen");
    refuse(STRONG "compute: replay\nsync: {strategy: bucketed, overlap: thread}\n", NULL,
           "6:37: sync.overlap = thread is not supported with compute = replay, since each thread "
           "would keep a core busy while its rank sleeps. Use sync.overlap: none, poll_layers or "
           "poll_tiles");
    refuse(STRONG "compute: replayed\n", NULL, "5:10: compute: 'replayed' is unknown; ...");
    refuse(STRONG "compute: {kind: replay, rate: -1}\n", NULL,
           "5:31: compute.rate = -1 GFLOP/s: allowed ...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrations_are_added),
        cmocka_unit_test(test_simulated_points_replay_without_a_baseline),
        cmocka_unit_test(test_hosts_are_calibrated_by_what_is_on_one),
        cmocka_unit_test(test_auto_goes_by_cores),
        cmocka_unit_test(test_labels_and_bases),
        cmocka_unit_test(test_what_cannot_be_replayed)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
