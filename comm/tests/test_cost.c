/* Cost formulas against closed forms and against conservation: what is sent is received. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/cost.h"

static struct cost allreduce(int rank, int ranks, size_t count, const struct link_model *model)
{
    return strategy_cost(STRATEGY_allreduce, rank, ranks, &count, 1, 4, model);
}

static void none_costs_nothing(void **state)
{
    (void)state;
    size_t counts[] = {10, 20};
    struct cost c = strategy_cost(STRATEGY_none, 0, 4, counts, 2, 4, NULL);
    assert_int_equal(c.calls + c.messages_wire + c.bytes_wire + c.bytes_payload, 0);
}

static void payload_is_the_whole_gradient(void **state)
{
    (void)state;
    size_t counts[] = {260, 5020, 16050, 510};
    struct cost c = strategy_cost(STRATEGY_allreduce, 0, 2, counts, 4, 4, NULL);
    assert_int_equal(c.calls, 1);
    assert_int_equal(c.bytes_payload, 87360);
}

static void one_rank_sends_nothing(void **state)
{
    (void)state;
    assert_int_equal(allreduce(0, 1, 1000, NULL).messages_wire, 0);
}

/* 2 lg p messages and 2 (p-1)/p n bytes where p is a power of two that divides n. */
static void powers_of_two_follow_the_closed_form(void **state)
{
    (void)state;
    for (int ranks = 2, lg = 1; ranks <= 64; ranks *= 2, lg++) {
        for (int rank = 0; rank < ranks; rank++) {
            struct cost c = allreduce(rank, ranks, 6400, NULL);
            assert_int_equal(c.messages_wire, 2 * lg);
            assert_int_equal(c.bytes_wire, 2 * (uint64_t)(ranks - 1) * 6400 / (uint64_t)ranks * 4);
        }
    }
}

/* Folded ranks send their whole vector once; their partners send the result back on top. */
static void other_counts_fold_first(void **state)
{
    (void)state;
    assert_int_equal(allreduce(0, 3, 1000, NULL).messages_wire, 1);
    assert_int_equal(allreduce(0, 3, 1000, NULL).bytes_wire, 4000);
    assert_int_equal(allreduce(1, 3, 1000, NULL).messages_wire, 3);
    assert_int_equal(allreduce(1, 3, 1000, NULL).bytes_wire, 4000 + 4000);
    assert_int_equal(allreduce(2, 3, 1000, NULL).messages_wire, 2);
    assert_int_equal(allreduce(2, 3, 1000, NULL).bytes_wire, 4000);
}

/* Reduce-scatter and allgather move every block p'-1 times each, whatever the remainder. */
static void all_ranks_together_move_every_block(void **state)
{
    (void)state;
    for (size_t count = 0; count < 40; count++) {
        uint64_t total = 0;
        for (int rank = 0; rank < 4; rank++)
            total += allreduce(rank, 4, count, NULL).bytes_wire;
        assert_int_equal(total, 2 * 3 * count * 4);
    }
}

static void model_adds_latency_transfer_and_sum(void **state)
{
    (void)state;
    struct link_model model = {.alpha_s = 1, .beta_s = 0.5, .gamma_s = 0.25};
    /* two ranks, 8 numbers: send 16 bytes, add 16, send 16 */
    double expected = 2 * (1 + 16 * 0.5) + 16 * 0.25;
    assert_true(allreduce(0, 2, 8, &model).seconds == expected);
    assert_true(allreduce(1, 2, 8, &model).seconds == expected);
}

static void table_is_complete(void **state)
{
    (void)state;
    for (int s = 0; s < STRATEGIES; s++) {
        assert_true(strategy_names()[s][0] != '\0');
        assert_true(strategy_summary((enum strategy_kind)s)[0] != '\0');
        assert_true(strategy_source((enum strategy_kind)s)[0] != '\0');
    }
    assert_true(strategy_flags(STRATEGY_allreduce) & STRATEGY_EXACT);
    assert_false(strategy_flags(STRATEGY_none) & STRATEGY_EXACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_costs_nothing),
        cmocka_unit_test(payload_is_the_whole_gradient),
        cmocka_unit_test(one_rank_sends_nothing),
        cmocka_unit_test(powers_of_two_follow_the_closed_form),
        cmocka_unit_test(other_counts_fold_first),
        cmocka_unit_test(all_ranks_together_move_every_block),
        cmocka_unit_test(model_adds_latency_transfer_and_sum),
        cmocka_unit_test(table_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
