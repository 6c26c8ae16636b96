/* Messages and sums of a step by the model: with a coefficient of 1 and the others 0 a step takes as many seconds as
 * its slowest rank sends messages, sends bytes or sums bytes. */
#include "bench/spec/tests/spec_file.h"

#include <math.h>

#include "bench/figures/prediction.h"

#define LENET                                                                                      \
    "name: test\nmodel: lenet_21k\ntrain: {global_batch: 60, accumulate: 3}\n"                     \
    "sync.strategy: allreduce\n"

static double machine_comm_s(const char *text, const struct link_model *memory,
                             const struct link_model *network)
{
    struct spec spec;
    struct error e;
    double ms = -1;
    load(&spec, text, NULL);
    for (size_t i = 0; i < spec.n_points; i++)
        if (config_int(&spec.points[i].config, OPT_RANKS) > 1) {
            const struct sweep_machine machine =
                prediction_machine(&spec.points[i].config, memory, network);
            assert_int_equal(prediction_comm_ms(&ms, &spec.points[i], 4, &machine, &e), OK);
        }
    spec_free(&spec);
    return ms / 1e3;
}

static double comm_s(const char *text, const struct link_model *link)
{
    return machine_comm_s(text, link, link);
}

static void assert_near(double seconds, double expected)
{
    if (!(fabs(seconds - expected) <= 1e-12 * expected))
        fail_msg("%.17g, expected %.17g", seconds, expected);
}

static void assert_comm(const char *text, double messages, double bytes, double summed)
{
    assert_near(comm_s(text, &(struct link_model){.alpha_s = 1}), messages);
    assert_near(comm_s(text, &(struct link_model){.beta_s = 1}), bytes);
    assert_near(comm_s(text, &(struct link_model){.gamma_s = 1}), summed);
}

/* Two ranks send each other half of what they sum, and hand back their own half. */
static void a_whole_net_sums_all_its_numbers(void **state)
{
    (void)state;
    assert_comm(LENET "ranks: 2\n", 2, 4 * 21840, 4 * 21840 / 2);
}

/* Conv1, a pool and a ReLU have fewer FLOPs than the rest, whose gradients two ranks sum: all but 260 numbers. To the
 * stage before it a stage sends gradients of 10x12x12 numbers an image, of a replica's images in three messages. */
static void a_stage_sums_its_own_and_sends_to_its_neighbours(void **state)
{
    (void)state;
    const double sum = 4 * (21840 - 260), image = 4 * 1440;
    assert_comm(LENET "ranks: 4\nparallel.pipeline: 2\n", 2 + 3, sum + 30 * image, sum / 2);
    assert_comm(LENET "ranks: 2\nparallel.pipeline: 2\n", 3, 60 * image, 0);
}

/* Of 320 inputs, 50 and 10 outputs each slice has half of the 50; in each of three micro-batches two slices sum ten
 * numbers an image forward and 320 backward. An odd number is summed in unequal halves, of which the larger
 * one takes its time both ways. */
static void slices_sum_in_every_micro_batch(void **state)
{
    (void)state;
    const double held = 260 + 5020 + 25 * 321 + 25 * 10 + 10, image = 4 * (10 + 320);
    assert_comm(LENET "ranks: 4\nparallel.tensor: 2\n", 2 + 3 * 4, 4 * (held + 1) + 30 * image,
                4 * (held + 1) / 2 + 30 * image / 2);
    assert_comm(LENET "ranks: 2\nparallel.tensor: 2\n", 3 * 4, 60 * image, 60 * image / 2);
}

/* Two hosts of two ranks each. Both ranks of a host exchange a quarter of the numbers with the other host, there and back:
 * by Rabenseifner, and by slices within hosts. Leaders exchange halves, one message each way. */
static void ranks_of_a_host_share_its_link(void **state)
{
    (void)state;
    static const char *const texts[] = {"rabenseifner", "hierarchical", "leader"};
    const double messages[] = {2 * 2, 2 * 2, 2};
    const double bytes[] = {4 * 21840, 4 * 21840, 4 * 21840};
    for (int i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "name: test\nmodel: lenet_21k\ntrain.global_batch: 60\nsite: emulated\n"
                 "sync: {strategy: %s, segment: 1MiB}\nranks: 4\nnodes: 2\n",
                 texts[i]);
        const struct link_model none = {0};
        assert_near(machine_comm_s(text, &none, &(struct link_model){.alpha_s = 1}), messages[i]);
        assert_near(machine_comm_s(text, &none, &(struct link_model){.beta_s = 1}), bytes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_net_sums_all_its_numbers),
        cmocka_unit_test(a_stage_sums_its_own_and_sends_to_its_neighbours),
        cmocka_unit_test(slices_sum_in_every_micro_batch),
        cmocka_unit_test(ranks_of_a_host_share_its_link),
    };
    return cmocka_run_group_tests_name("prediction", tests, make_file, remove_file);
}
