/* Calls, messages and bytes of strategies, against an independent count at the PMPI boundary and
 * against the formulas; messages that are sent during backward.
 * cores: all
 * double: 2 3 */
#include "comm/tests/mpi_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/tests/exact_configs.h"
#include "comm/tests/mpi_seen.h"
#include "kernels/gemm.h"

enum { TENSORS = 3 };

/* Returns whether messages carry sizes and names of tensors, which a program leaves out. */
static bool is_pickled(struct exact_config config)
{
    return config.variant == VARIANT_reduce_bcast_pickled;
}

/* Returns the point-to-point messages of a strategy; for pickled variants, the messages up the
 * tree. */
static struct cost own_messages(const struct fixture *f, struct exact_config config)
{
    if (is_pickled(config) && mpi_world_rank() > 0) {
        size_t bytes = pickle_bytes(f->sync->counts, TENSORS, sizeof(real));
        return (struct cost){.messages_wire = 2, .bytes_wire = sizeof(uint64_t) + bytes};
    }
    struct cost cost = sync_cost(f->sync);
    return strcmp(cost.wire_source, WIRE_COUNTED) == 0 ? cost : (struct cost){0};
}

/* Compares the MPI calls seen, the waiter's counts and the cost formula after `steps` steps. */
static bool counts_agree(const struct fixture *f, const struct waiter *before,
                         struct exact_config config, uint64_t steps)
{
    const struct waiter *w = f->waiter;
    struct cost cost = sync_cost(f->sync), own = own_messages(f, config);
    uint64_t calls = w->calls - before->calls;
    uint64_t bytes = w->bytes_payload - before->bytes_payload;
    uint64_t messages = w->messages_sent - before->messages_sent;
    uint64_t sent = w->bytes_sent - before->bytes_sent;
    return calls == seen.calls && bytes == seen.bytes && calls == steps * cost.calls &&
           bytes == steps * cost.bytes_payload && messages == seen.messages && sent == seen.sent &&
           messages == steps * own.messages_wire && sent == steps * own.bytes_wire;
}

static void counters_equal_an_independent_count(void **state)
{
    enum { N = 1234, STEPS = 3 };
    struct fixture f;
    setup(&f);
    for (int config = 0; config < n_configs; config++) {
        assert_all(open_config(&f, configs[config], N));
        const struct waiter before = *f.waiter;
        forget_seen();
        bool good = true;
        for (int i = 0; i < STEPS; i++)
            good = good && fixture_step(&f, 1);
        good = good && counts_agree(&f, &before, configs[config], STEPS);
        good = good && (is_pickled(configs[config]) || sends_follow_program(f.sync, STEPS));
        sync_destroy(f.sync);
        assert_all(good);
    }
}

static void failures_name_the_strategy(void **state)
{
    struct fixture f;
    setup(&f);
    for (int config = 0; config < n_configs; config++) {
        char expected[128];
        snprintf(expected, sizeof expected, "%s %s, ", strategy_names()[configs[config].strategy],
                 strategy_variant_name(configs[config].variant));
        assert_all(open_config(&f, configs[config], 77));
        sync_destroy(f.sync);
        assert_ptr_equal(strstr(mpi_subject, expected), mpi_subject);
        assert_non_null(strstr(mpi_subject, ", 77 numbers, "));
    }
}

/* Covers the machine's own nodes and pretended nodes: 7 ranks as nodes of 3, 3 and 1. */
static void pretended_nodes_sum_and_count(void **state)
{
    const struct exact_config configs_of_nodes[] = {{STRATEGY_hierarchical, VARIANT_usual},
                                                    {STRATEGY_leader, VARIANT_usual}};
    const size_t sizes[] = {0, 1, (size_t)mpi_world_ranks(), 1009, 7850};
    struct fixture f;
    setup(&f);
    for (int k = 0; k < 40; k++) {
        size_t n = sizes[k % 5];
        struct exact_config config = configs_of_nodes[k / 5 % 2];
        f.config.options[SYNC_node_ranks] = k / 10;
        assert_all(open_config(&f, config, n));
        const struct waiter before = *f.waiter;
        forget_seen();
        bool good = sums_exactly(&f) && counts_agree(&f, &before, config, 2);
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* Each tensor is a bucket, sent as soon as the tensor is complete. */
static void buckets_leave_during_backward(void **state)
{
    enum { N = 12000 };
    struct fixture f;
    struct error e;
    setup(&f);
    assert_all(open_config(&f, (struct exact_config){STRATEGY_bucketed, VARIANT_usual}, N));
    fixture_fill(&f);
    forget_seen();
    bool good = true;
    sync_step_begin(f.sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        good = good && sync_grad_ready(f.sync, (struct range){i, i + 1}, 0, true, &e) == OK;
        good = good && seen.calls == (uint64_t)(TENSORS - i);
    }
    good = good && f.sync->times.comm_exposed_ns > 0 && f.sync->times.arrive_ns == 0;
    good = good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK;
    good = good && fixture_has_summed(&f, 1) && f.sync->times.arrive_ns > 0;
    good = good && f.sync->times.comm_exposed_ns <= f.sync->times.comm_total_ns;
    sync_destroy(f.sync);
    assert_all(good);
}

/* Runs a step whose tensors are complete one by one; `between` runs after each. */
static bool step_by_tensors(struct fixture *f, void (*between)(struct fixture *f, int n))
{
    struct error e;
    bool good = true;
    sync_step_begin(f->sync);
    for (int i = TENSORS - 1; i >= 0 && good; i--) {
        good = sync_grad_ready(f->sync, (struct range){i, i + 1}, 0, true, &e) == OK;
        between(f, TENSORS - i);
    }
    return good && sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
}

static const struct exact_config fusion = {STRATEGY_fusion, VARIANT_usual};
static uint64_t calls_after[TENSORS];

static void note_calls(struct fixture *f, int n)
{
    calls_after[n - 1] = seen.calls;
}

/* Cycle lengths without dependence on time. With 0, each tensor is sent alone. With an endless
 * cycle, all leave after backward and one question, in as few sums as the threshold permits:
 * 12000 numbers exceed it in every pair, fill it exactly, or all but the last two of three
 * tensors fit. */
#define LONGEST_CYCLE_NS ((int64_t)1e15)
static void fusion_without_cycles_follows_its_formula(void **state)
{
    const struct {
        int64_t cycle_ns;
        size_t n;
        uint64_t during[TENSORS], calls;
    } cases[] = {{0, 12000, {1, 2, 3}, 3},
                 {0, 900, {1, 2, 3}, 3},
                 {LONGEST_CYCLE_NS, 12000, {0, 0, 0}, 4},
                 {LONGEST_CYCLE_NS, 4096 / sizeof(real), {0, 0, 0}, 2},
                 {LONGEST_CYCLE_NS, 4096 / sizeof(real) + 1, {0, 0, 0}, 3}};
    struct fixture f;
    setup(&f);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        f.config.options[SYNC_cycle_ms] = (double)cases[k].cycle_ns / 1e6;
        assert_all(open_config(&f, fusion, cases[k].n));
        fixture_fill(&f);
        const struct waiter before = *f.waiter;
        forget_seen();
        bool good = step_by_tensors(&f, note_calls) && fixture_has_summed(&f, 1);
        good = good && counts_agree(&f, &before, fusion, 1) && seen.calls == cases[k].calls;
        good = good && memcmp(calls_after, cases[k].during, sizeof cases[k].during) == 0;
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* Delays ranks by more than a cycle, in different ways. */
static void dawdle_and_poll(struct fixture *f, int n)
{
    int rank = mpi_world_rank();
    usleep((unsigned)(rank * 7919 % 5) * 150);
    for (int i = 0; i < 3; i++) {
        sync_poll(f->sync);
        usleep(CYCLE_NS / 1000 / 2);
    }
}

/* With cycles, the number of questions depends on time: from one to one per tensor. The gradient
 * is always sent once. */
static void fusion_in_cycles_sums_everything_once(void **state)
{
    enum { N = 12000, STEPS = 20 };
    struct fixture f;
    setup(&f);
    assert_all(open_config(&f, fusion, N));
    bool good = true;
    for (int i = 1; i <= STEPS; i++) {
        const struct waiter before = *f.waiter;
        forget_seen();
        fixture_fill(&f);
        good = step_by_tensors(&f, dawdle_and_poll) && fixture_has_summed(&f, i) && good;
        uint64_t questions = seen.calls - TENSORS;
        good = good && questions >= 1 && questions <= TENSORS;
        good = good && seen.bytes == N * sizeof(real) + questions * sizeof(int);
        good = good && f.waiter->calls - before.calls == seen.calls;
        good = good && f.waiter->bytes_payload - before.bytes_payload == seen.bytes;
    }
    sync_destroy(f.sync);
    assert_all(good);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    list_configs();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_name_the_strategy),
        cmocka_unit_test(counters_equal_an_independent_count),
        cmocka_unit_test(pretended_nodes_sum_and_count),
        cmocka_unit_test(buckets_leave_during_backward),
        cmocka_unit_test(fusion_without_cycles_follows_its_formula),
        cmocka_unit_test(fusion_in_cycles_sums_everything_once),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
