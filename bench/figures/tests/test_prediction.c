/* Messages and sums of a step by the model: with a coefficient of 1 and the others 0 a step takes
 * as many seconds as its slowest rank sends messages, sends bytes or sums bytes. */
#include "bench/spec/tests/spec_file.h"

#include <math.h>

#include "bench/figures/prediction.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/named_links.h"

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

/* Two ranks send each other half of their gradients. Then each sends back the half that it
 * summed. */
static void a_whole_net_sums_all_its_numbers(void **state)
{
    (void)state;
    assert_comm(LENET "ranks: 2\n", 2, 4 * 21840, 4 * 21840 / 2);
}

/* Conv1, a pool and a ReLU have fewer FLOPs than the rest, whose gradients two ranks sum: all but
 * 260 numbers. To the stage before it a stage sends gradients of 10x12x12 numbers an image, of a
 * replica's images in three messages. */
static void a_stage_sums_its_own_and_sends_to_its_neighbours(void **state)
{
    (void)state;
    const double sum = 4 * (21840 - 260), image = 4 * 1440;
    assert_comm(LENET "ranks: 4\nparallel.pipeline: 2\n", 2 + 3, sum + 30 * image, sum / 2);
    assert_comm(LENET "ranks: 2\nparallel.pipeline: 2\n", 3, 60 * image, 0);
}

/* Dense layers have 320 inputs, 50 and 10 outputs; each slice holds half of the 50. In each of
 * three micro-batches, two slices sum ten numbers per image forward and 320 backward. An odd count
 * of numbers is summed in unequal halves; the larger half determines the time both ways. */
static void slices_sum_in_every_micro_batch(void **state)
{
    (void)state;
    const double held = 260 + 5020 + 25 * 321 + 25 * 10 + 10, image = 4 * (10 + 320);
    assert_comm(LENET "ranks: 4\nparallel.tensor: 2\n", 2 + 3 * 4, 4 * (held + 1) + 30 * image,
                4 * (held + 1) / 2 + 30 * image / 2);
    assert_comm(LENET "ranks: 2\nparallel.tensor: 2\n", 3 * 4, 60 * image, 60 * image / 2);
}

/* Two hosts of two ranks each. Both ranks of a host exchange a quarter of the numbers with the
 * other host, there and back: by Rabenseifner, and by slices within hosts. Leaders exchange halves,
 * one message each way. */
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

static bool is_rounded(double rounded, double value)
{
    return fabs(rounded - value) <= 6e-4 * value;
}

/* Returns the row of a coefficient of `link`, otherwise of the only link of the file; table->rows if
 * there is none. */
static size_t row_of(const struct csv_table *table, const char *link, const char *coefficient)
{
    size_t any = table->rows;
    for (size_t row = table->rows; row-- > 0;) {
        if (strcmp(csv_table_text(table, row, "coefficient"), coefficient) != 0)
            continue;
        if (strcmp(csv_table_text(table, row, "link"), link) == 0)
            return row;
        any = row;
    }
    return any;
}

/* Fails unless a coefficient and its interval equal the file's, rounded to four digits. */
static void assert_fitted(const struct csv_table *table, const char *link, const char *name,
                          const struct interval *fitted)
{
    size_t row = row_of(table, link, name);
    if (row == table->rows)
        fail_msg("%s: %s of %s not found", table->path, name, link);
    assert_true(is_rounded(fitted->mid, csv_table_value(table, row, "value")));
    assert_true(is_rounded(fitted->lo, csv_table_value(table, row, "lo")));
    assert_true(is_rounded(fitted->hi, csv_table_value(table, row, "hi")));
}

/* Fails unless the link scatters as its file says, or neither has paces. */
static void assert_scatter(const struct csv_table *table, const char *link, const double *paces)
{
    char name[LINK_PACE_NAME];
    for (int i = 0; i < LINK_PACES; i++) {
        size_t row = row_of(table, link, link_pace_name(name, i));
        assert_true((row < table->rows) == (paces[i] > 0));
        if (row < table->rows)
            assert_true(is_rounded(paces[i], csv_table_value(table, row, "value")));
    }
}

/* Fitted links of links.def have the coefficients of committed files. */
static void fitted_links_are_those_of_their_files(void **state)
{
    (void)state;
    size_t n = 0;
    for (int i = 0; i < LINKS; i++) {
        const struct named_link *row = named_link((enum link_kind)i);
        char path[256];
        struct csv_table table;
        struct error e;
        if (row == NULL || row->file == NULL)
            continue;
        snprintf(path, sizeof path, "results/reference/%s", row->file);
        assert_int_equal(csv_table_read(&table, path, &e), OK);
        const char *link = names_links->names[i];
        assert_fitted(&table, link, "alpha_us", &row->alpha_us);
        assert_fitted(&table, link, "beta_ns_per_byte", &row->beta_ns);
        assert_fitted(&table, link, "gamma_ns_per_byte", &row->gamma_ns);
        assert_scatter(&table, link, named_link_paces((enum link_kind)i));
        csv_table_free(&table);
        n++;
    }
    assert_true(n > 0);
}

/* A named link replaces the link inside the host that has all ranks, else the link between hosts. A
 * stated link has no gamma. */
static void a_named_link_replaces_coefficients(void **state)
{
    (void)state;
    struct spec spec;
    const struct link_model ones = {.alpha_s = 1, .beta_s = 1, .gamma_s = 1};
    load(&spec,
         BODY "site: {kind: simulated, link: shared_memory_zen4}\nranks: 2\n"
              "cases: [{label: a}, {label: b, nodes: 2, site.link: infiniband_edr}]\n",
         NULL);
    struct sweep_machine one = prediction_machine(&spec.points[0].config, &ones, &ones), two = one;
    prediction_take_link(&one, &spec.points[0].config);
    prediction_take_link(&two, &spec.points[1].config);
    assert_near(one.memory.alpha_s, 0.2999e-6);
    assert_near(one.memory.gamma_s, 0.05568e-9);
    assert_near(one.network.beta_s, 1);
    assert_near(two.network.alpha_s, 1.27e-6);
    assert_near(two.network.beta_s, 0.08073e-9);
    assert_near(two.memory.beta_s, 1);
    assert_near(two.memory.gamma_s, 1);
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_net_sums_all_its_numbers),
        cmocka_unit_test(a_stage_sums_its_own_and_sends_to_its_neighbours),
        cmocka_unit_test(slices_sum_in_every_micro_batch),
        cmocka_unit_test(ranks_of_a_host_share_its_link),
        cmocka_unit_test(fitted_links_are_those_of_their_files),
        cmocka_unit_test(a_named_link_replaces_coefficients),
    };
    return cmocka_run_group_tests_name("prediction", tests, make_file, remove_file);
}
