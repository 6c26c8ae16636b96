/* Costs of compressed sums against closed forms, and against conservation: all sent bytes are
 * received. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/cost.h"

static struct cost cost_of(enum strategy_kind strategy, const struct strategy_config *config,
                           int rank, int ranks, const size_t *counts, size_t n)
{
    return strategy_cost(strategy, config, rank, ranks, counts, n, 4);
}

/* 2 (p-1) messages of n/p numbers, at half of a float's bytes. */
static void sixteen_bits_follow_the_closed_form(void **state)
{
    const struct strategy_config config = {.compressor = COMPRESSOR_bf16};
    for (int ranks = 1; ranks <= 16; ranks++) {
        size_t share = 24, count = share * (size_t)ranks;
        uint64_t others = (uint64_t)ranks - 1;
        for (int rank = 0; rank < ranks; rank++) {
            struct cost c = cost_of(STRATEGY_allreduce, &config, rank, ranks, &count, 1);
            assert_int_equal(c.messages_wire, 2 * others);
            assert_int_equal(c.bytes_wire, 2 * others * share * 2);
            assert_int_equal(c.calls, 4 * others);
            assert_int_equal(c.bytes_payload, 4 * others * share * 2);
            assert_string_equal(c.wire_source, WIRE_COUNTED);
        }
    }
}

/* Ten numbers on four ranks are shares of 3, 3, 2 and 2; two numbers are shares of 1, 1, 0 and
 * 0. */
static void uneven_shares_are_cut_as_the_pool_cuts(void **state)
{
    const struct strategy_config config = {.compressor = COMPRESSOR_fp16};
    const size_t ten = 10, two = 2;
    const uint64_t sent[4][2] = {
        {(7 + 3 * 3) * 2, 6}, {(7 + 3 * 3) * 2, 6}, {(8 + 3 * 2) * 2, 6}, {(8 + 3 * 2) * 2, 6}};
    const uint64_t few[4][2] = {{(1 + 3) * 2, 4}, {(1 + 3) * 2, 4}, {2 * 2, 2}, {2 * 2, 2}};
    for (int rank = 0; rank < 4; rank++) {
        struct cost c = cost_of(STRATEGY_allreduce, &config, rank, 4, &ten, 1);
        assert_int_equal(c.bytes_wire, sent[rank][0]);
        assert_int_equal(c.messages_wire, sent[rank][1]);
        c = cost_of(STRATEGY_allreduce, &config, rank, 4, &two, 1);
        assert_int_equal(c.bytes_wire, few[rank][0]);
        assert_int_equal(c.messages_wire, few[rank][1]);
    }
}

/* Payload counts both ends of a message. */
static void what_is_sent_is_received(void **state)
{
    const size_t counts[] = {7, 0, 100, 33};
    for (int c = COMPRESSOR_none + 1; c < COMPRESSORS; c++) {
        const struct strategy_config config = {.compressor = (enum compressor_kind)c};
        for (int ranks = 1; ranks <= 9; ranks++) {
            uint64_t payload = 0, wire = 0, calls = 0, messages = 0;
            bool counted = true;
            for (int rank = 0; rank < ranks; rank++) {
                struct cost own =
                    cost_of(STRATEGY_allreduce_layer, &config, rank, ranks, counts, 4);
                payload += own.bytes_payload;
                wire += own.bytes_wire;
                calls += own.calls;
                messages += own.messages_wire;
                counted = counted && own.wire_source[0] == 'c';
            }
            if (!counted)
                continue;
            assert_int_equal(payload, 2 * wire);
            assert_int_equal(calls, 2 * messages);
        }
    }
}

static void a_compressed_sum_a_tensor_pays_for_each(void **state)
{
    const struct strategy_config config = {.compressor = COMPRESSOR_bf16};
    const size_t counts[] = {8, 0, 24};
    struct cost c = cost_of(STRATEGY_allreduce_layer, &config, 1, 2, counts, 3);
    struct cost flat = cost_of(STRATEGY_allreduce, &config, 1, 2, counts, 3);
    assert_int_equal(c.messages_wire, 2 * 2);
    assert_int_equal(flat.messages_wire, 2);
    assert_int_equal(c.bytes_wire, 64);
    assert_int_equal(flat.bytes_wire, 64);
    struct cost buckets = cost_of(STRATEGY_bucketed, &config, 1, 2, counts, 3); /* of any size */
    assert_int_equal(buckets.messages_wire, 2 * 2);
    assert_int_equal(buckets.bytes_wire, 64);
    assert_string_equal(buckets.wire_source, WIRE_COUNTED);
}

static void the_table_is_complete(void **state)
{
    const char *takers[STRATEGIES];
    assert_int_equal(COMPRESSOR_none, 0); /* zeroed configurations have no compressor */
    assert_string_equal(compressor_names()[COMPRESSOR_none], "none");
    for (int c = 0; c < COMPRESSORS; c++)
        assert_true(compressor_source((enum compressor_kind)c)[0] != '\0');
    assert_int_equal(strategy_list(STRATEGY_COMPRESSES, takers), 3);
    assert_string_equal(takers[0], "allreduce");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_bits_follow_the_closed_form),
        cmocka_unit_test(uneven_shares_are_cut_as_the_pool_cuts),
        cmocka_unit_test(what_is_sent_is_received),
        cmocka_unit_test(a_compressed_sum_a_tensor_pays_for_each),
        cmocka_unit_test(the_table_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
