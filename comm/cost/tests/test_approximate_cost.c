/* Partners of gossip, and costs of strategies that are not exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/cost.h"
#include "comm/cost/strategies/gossip.h"

enum { RANKS_MOST = 17 };

static struct cost cost_of(enum strategy_kind strategy, const struct strategy_config *config,
                           int rank, int ranks, size_t count)
{
    return strategy_cost(strategy, config, rank, ranks, &count, 1, 4);
}

/* A partner's partner is the rank itself. After all rounds each rank has been the partner of each
 * other once. */
static void everyone_meets_everyone_once(void **state)
{
    for (int ranks = 1; ranks <= RANKS_MOST; ranks++) {
        int met[RANKS_MOST][RANKS_MOST] = {{0}};
        for (uint64_t step = 1; step <= gossip_rounds(ranks); step++) {
            int resting = 0;
            for (int r = 0; r < ranks; r++) {
                int partner = gossip_partner(r, ranks, step);
                assert_in_range(partner, 0, ranks - 1);
                assert_int_equal(gossip_partner(partner, ranks, step), r);
                met[r][partner]++;
                resting += partner == r;
            }
            assert_int_equal(resting, ranks % 2);
        }
        for (int r = 0; r < ranks; r++)
            for (int k = 0; k < ranks; k++)
                assert_int_equal(met[r][k], r != k || ranks % 2 == 1);
    }
}

static void gossip_costs_a_message_for_each_partner(void **state)
{
    const struct strategy_config config = {0};
    struct cost even = cost_of(STRATEGY_gossip, &config, 1, 4, 8);
    struct cost odd = cost_of(STRATEGY_gossip, &config, 1, 5, 8);
    assert_int_equal(even.steps, 3);
    assert_int_equal(even.messages_wire, 3);
    assert_int_equal(even.bytes_wire, 3 * 32);
    assert_int_equal(even.calls, 6);
    assert_int_equal(even.bytes_payload, 6 * 32);
    assert_int_equal(odd.steps, 5);
    assert_int_equal(odd.messages_wire, 4);
    assert_int_equal(cost_of(STRATEGY_gossip, &config, 0, 1, 8).calls, 0);
}

/* With 6 ranks, 0 folds into 1 and 2 into 3; ranks 1, 3, 4 and 5 exchange twice. */
static void adasum_costs_whole_vectors(void **state)
{
    const struct strategy_config config = {0};
    const uint64_t messages[] = {1, 3, 1, 3, 2, 2}, calls[] = {2, 6, 2, 6, 4, 4};
    for (int r = 0; r < 6; r++) {
        struct cost c = cost_of(STRATEGY_adasum, &config, r, 6, 100);
        assert_int_equal(c.messages_wire, messages[r]);
        assert_int_equal(c.bytes_wire, messages[r] * 400);
        assert_int_equal(c.calls, calls[r]);
        assert_int_equal(c.bytes_payload, calls[r] * 400);
        assert_int_equal(c.steps, 1);
    }
    assert_int_equal(cost_of(STRATEGY_adasum, &config, 0, 1, 100).calls, 0);
}

/* Two servers have 5 of 10 numbers each. Rank 2 pushes to both. Rank 0 pushes to rank 1 and answers
 * two ranks. */
static void servers_answer_everyone_else(void **state)
{
    const struct strategy_config one = {.variant = VARIANT_param_server_sync};
    const struct strategy_config two = {.variant = VARIANT_param_server_async,
                                        .options = {[SYNC_servers] = 2}};
    struct cost server = cost_of(STRATEGY_param_server, &two, 0, 3, 10);
    struct cost other = cost_of(STRATEGY_param_server, &two, 2, 3, 10);
    struct cost only = cost_of(STRATEGY_param_server, &one, 0, 4, 10);
    assert_int_equal(server.messages_wire, 3);
    assert_int_equal(server.bytes_wire, 3 * 20);
    assert_int_equal(server.calls, 6);
    assert_int_equal(server.bytes_payload, 6 * 20);
    assert_int_equal(other.messages_wire, 2);
    assert_int_equal(other.bytes_wire, 2 * 20);
    assert_int_equal(only.messages_wire, 3);
    assert_int_equal(only.bytes_wire, 3 * 40);
    assert_int_equal(cost_of(STRATEGY_param_server, &one, 0, 1, 10).calls, 0);
}

/* A period of eight steps costs as much as one step of allreduce. */
static void averages_cost_a_sum_a_period(void **state)
{
    const struct strategy_config config = {.options = {[SYNC_period] = 8}};
    struct cost local = cost_of(STRATEGY_local_sgd, &config, 0, 3, 100);
    struct cost sum = cost_of(STRATEGY_allreduce, &config, 0, 3, 100);
    assert_int_equal(local.steps, 8);
    assert_int_equal(sum.steps, 1);
    assert_int_equal(local.calls, sum.calls);
    assert_int_equal(local.bytes_wire, sum.bytes_wire);
}

/* 5 steps precede the first period of 8: steps 1 to 5, 13, 21 and so on have a sum. */
static void steps_pay_for_the_sums_that_are_theirs(void **state)
{
    const struct strategy_config config = {.options = {[SYNC_period] = 8, [SYNC_post_local] = 5}};
    struct cost cost = cost_of(STRATEGY_local_sgd, &config, 0, 3, 100);
    double before = 0;
    for (uint64_t step = 1; step <= 50; step++) {
        bool pays = step <= 5 || (step > 5 && (step - 5) % 8 == 0);
        assert_true(strategy_times(STRATEGY_local_sgd, &config, &cost, step, 1) == pays);
        before += pays;
        assert_true(strategy_times(STRATEGY_local_sgd, &config, &cost, 1, step) == before);
    }
    assert_true(strategy_times(STRATEGY_local_sgd, &config, &cost, 3, 0) == 0);
    assert_true(strategy_times(STRATEGY_local_sgd, &config, &cost, 2, 4) == 4);
    assert_true(strategy_times(STRATEGY_local_sgd, &config, &cost, 5, 17) == 3);
    struct cost rounds = cost_of(STRATEGY_gossip, &config, 0, 4, 100);
    assert_true(strategy_times(STRATEGY_gossip, &config, &rounds, 7, 30) == 10);
    assert_true(strategy_times(STRATEGY_allreduce, &config, &(struct cost){.steps = 1}, 7, 30) ==
                30);
}

/* 400 bytes use recursive doubling; 4000 bytes use Rabenseifner's algorithm. */
static void a_delayed_sum_is_a_non_blocking_one(void **state)
{
    const struct strategy_config config = {0};
    struct cost brief = cost_of(STRATEGY_delayed, &config, 0, 4, 100);
    struct cost whole = cost_of(STRATEGY_delayed, &config, 0, 4, 1000);
    assert_int_equal(brief.calls, 1);
    assert_int_equal(brief.messages_wire, 2);
    assert_int_equal(brief.bytes_wire, 800);
    assert_string_equal(brief.wire_source, "formula: recursive_doubling");
    assert_int_equal(whole.messages_wire, 4);
    assert_int_equal(whole.bytes_wire, 2 * 3 * 1000);
    assert_string_equal(whole.wire_source, "formula: reduce_scatter_allgather");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_meets_everyone_once),
        cmocka_unit_test(gossip_costs_a_message_for_each_partner),
        cmocka_unit_test(adasum_costs_whole_vectors),
        cmocka_unit_test(servers_answer_everyone_else),
        cmocka_unit_test(averages_cost_a_sum_a_period),
        cmocka_unit_test(steps_pay_for_the_sums_that_are_theirs),
        cmocka_unit_test(a_delayed_sum_is_a_non_blocking_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
