/* Messages and memory of stages of ZeRO against closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/cost.h"
#include "comm/cost/strategies/zero.h"

/* 2 (p - 1) / p of all numbers; for gathered numbers 3 (p - 1) / p with one micro-batch, 5 (p - 1)
 * / p with two. Sizes are divisible: every rank has the same. */
static void stages_follow_the_closed_forms(void **state)
{
    enum { P = 4, SMALL = 40, LARGE = 400, WIDTH = 4 };
    const size_t counts[] = {LARGE, SMALL, SMALL, LARGE};
    struct strategy_config config = {.options[SYNC_zero_persist] = SMALL};
    for (size_t micro_batches = 0; micro_batches <= 2; micro_batches++) {
        size_t times = micro_batches == 2 ? 5 : 3;
        config.micro_batches = micro_batches;
        for (int rank = 0; rank < P; rank++) {
            struct cost two = strategy_cost(STRATEGY_zero2, &config, rank, P, counts, 4, WIDTH);
            struct cost three = strategy_cost(STRATEGY_zero3, &config, rank, P, counts, 4, WIDTH);
            size_t large = 2 * LARGE * WIDTH * (P - 1) / P, small = 2 * SMALL * WIDTH * (P - 1) / P;
            assert_int_equal(two.bytes_wire, 2 * (large + small));
            assert_int_equal(three.bytes_wire, times * large + 2 * small);
            assert_int_equal(two.bytes_payload, 2 * two.bytes_wire);
            assert_int_equal(two.messages_wire, 2 * 4 * (P - 1));
        }
    }
}

/* Small tensors side by side are one block up to the cap; a large one is alone at stage 3. */
static void stages_cut_blocks(void **state)
{
    const size_t counts[] = {10, 10, 1000, 10, 10, 10};
    const struct strategy_config config = {
        .options = {
            [SYNC_zero_persist] = 100, [SYNC_cap_mib] = 1, [SYNC_first_cap_mib] = 60 / 0x1p20}};
    const size_t firsts[2][3] = {{4, 0, 0}, {4, 3, 2}};
    for (int gathers = 0; gathers < 2; gathers++) {
        size_t last = 6;
        for (int i = 0; i < 2 + gathers; i++) {
            struct zero_block b = zero_block_before(&config, gathers, counts, 6, last, 4);
            assert_int_equal(b.tensors.first, firsts[gathers][i]);
            assert_int_equal(b.is_whole, !(gathers && i == 2));
            last = b.tensors.first;
        }
    }
    assert_int_equal(zero_block_before(&config, true, counts, 6, 2, 4).tensors.count, 20);
    assert_int_equal(zero_block_before(&config, true, counts, 6, 0, 4).tensors.count, 0);
}

/* Blocks of 400, 80, 400, 400 and 40 numbers, last block first; shares are quarters. A rank also
 * holds other ranks' gradients of three blocks, and other ranks' parameters of two blocks, of which
 * one is gathered ahead. The optimizer state has two numbers per parameter. */
static void stages_keep_shares(void **state)
{
    enum { P = 4, WIDTH = 4, ALL = 40 + 400 + 400 + 80 + 400 };
    const size_t counts[] = {40, 400, 400, 80, 400};
    const struct strategy_config config = {.options[SYNC_zero_persist] = 80};
    struct sync_memory two = strategy_memory(STRATEGY_zero2, &config, 1, P, counts, 5, WIDTH, 2);
    struct sync_memory three = strategy_memory(STRATEGY_zero3, &config, 1, P, counts, 5, WIDTH, 2);
    assert_int_equal(two.params, ALL * WIDTH);
    assert_int_equal(two.grads, (ALL / P + 3 * (400 + 80 + 400) / P) * WIDTH);
    assert_int_equal(two.state, 2 * ALL / P * WIDTH);
    assert_int_equal(two.buffers, 2 * (P - 1) * 100 * WIDTH);
    assert_int_equal(three.params, (40 + 80 + 3 * 100 + 3 * (400 + 400) / P) * WIDTH);
    assert_int_equal(three.grads, two.grads);
    /* In shared memory, blocks stay until all ranks have read them, and none is fetched ahead. */
    struct sync_memory shm =
        strategy_memory(STRATEGY_shm_zero3, &config, 1, P, counts, 5, WIDTH, 2);
    assert_int_equal(shm.params, (40 + 80 + 3 * 100 + 3 * 400 / P) * WIDTH);
    assert_int_equal(shm.grads, (ALL / P + 3 * (400 + 80 + 400 + 400) / P) * WIDTH);
    assert_int_equal(shm.state, three.state);
    assert_int_equal(shm.buffers, 0);
    struct sync_memory one = strategy_memory(STRATEGY_zero1, &config, 1, P, counts, 5, WIDTH, 2);
    assert_int_equal(one.grads, ALL * WIDTH);
    assert_int_equal(one.state, 2 * ALL / P * WIDTH);
    struct sync_memory alone = strategy_memory(STRATEGY_zero3, &config, 0, 1, counts, 5, WIDTH, 1);
    assert_int_equal(alone.params, ALL * WIDTH);
    assert_int_equal(alone.grads, ALL * WIDTH);
    assert_int_equal(alone.state, ALL * WIDTH);
}

/* Two convolutions with bias and batch norm, an op each; every tensor is a block of its own. An op
 * has all four tensors in memory while the next op's weights arrive, or while the last gradients of
 * the previous op leave. */
static void ops_hold_all_their_tensors(void **state)
{
    enum { P = 4, WIDTH = 4, OP = 400 + 3 * 8 };
    const size_t counts[] = {400, 8, 8, 8, 400, 8, 8, 8};
    static const int ops[] = {0, 0, 0, 0, 1, 1, 1, 1};
    const struct strategy_config config = {.ops = ops, .options[SYNC_zero_persist] = 0};
    struct sync_memory m = strategy_memory(STRATEGY_zero3, &config, 1, P, counts, 8, WIDTH, 1);
    assert_int_equal(m.params, (2 * OP / P + 3 * (OP + 400) / P) * WIDTH);
    assert_int_equal(m.grads, (2 * OP / P + 3 * (OP + 400 + 8) / P) * WIDTH);
    m = strategy_memory(STRATEGY_shm_zero3, &config, 1, P, counts, 8, WIDTH, 1);
    assert_int_equal(m.params, (2 * OP / P + 3 * OP / P) * WIDTH);
    assert_int_equal(m.grads, (2 * OP / P + 3 * (OP + 400 + 8 + 8) / P) * WIDTH);
    /* Each layer is two ops: weights and bias, then batch norm, which is small. */
    static const int layers[] = {0, 0, 1, 1, 2, 2, 3, 3};
    const struct strategy_config plain = {.ops = layers, .options[SYNC_zero_persist] = 0};
    m = strategy_memory(STRATEGY_zero3, &plain, 1, P, counts, 8, WIDTH, 1);
    assert_int_equal(m.params, (2 * OP / P + 3 * (8 + 8 + 400) / P) * WIDTH);
}

/* 4096 bytes in 16 pages. The block at their end has 96 bytes, and none of its pages is given back.
 * The other block gives back three pages before this rank's share (bytes 1000 to 2000) and seven
 * behind it. */
static void memory_is_whole_pages(void **state)
{
    enum { P = 4, WIDTH = 4, PAGE = 256 };
    const size_t counts[] = {1000, 24, 1000, 24, 1000, 24};
    const struct strategy_config config = {.page_bytes = PAGE, .options[SYNC_zero_persist] = 24};
    struct sync_memory m = strategy_memory(STRATEGY_zero2, &config, 1, P, counts, 2, WIDTH, 2);
    assert_int_equal(m.params, 16 * PAGE);
    assert_int_equal(m.grads, 16 * PAGE);
    assert_int_equal(m.state, 2 * (5 + 1) * PAGE);
    /* Three times as much: of one large block nothing of others is there while two are on their
     * way. */
    m = strategy_memory(STRATEGY_zero3, &config, 1, P, counts, 6, WIDTH, 1);
    assert_int_equal(m.grads, (3 * 16 - 10) * PAGE);
    assert_int_equal(m.params, (3 * 16 - 10) * PAGE);
    m = strategy_memory(STRATEGY_zero1, &config, 0, P, counts, 1, WIDTH, 2);
    assert_true(m.params == 16 * PAGE && m.grads == 16 * PAGE);
    m = strategy_memory(STRATEGY_allreduce, &config, 0, P, counts, 1, WIDTH, 3);
    assert_true(m.params == 16 * PAGE && m.state == 47 * PAGE); /* 12000 bytes */
}

/* 1000 numbers with Adam's two slots on 4 ranks: 16 bytes per replicated number, 4 bytes per
 * sharded number. */
static void formulas_are_those_of_deepspeed(void **state)
{
    static const enum strategy_kind kinds[] = {STRATEGY_allreduce, STRATEGY_zero1, STRATEGY_zero2,
                                               STRATEGY_zero3};
    static const size_t bytes[][2] = {
        {16000, 16000}, {8000 + 2000, 4000 + 3000}, {4000 + 3000, 2000 + 3500}, {4000, 4000}};
    for (int stage = 0; stage < 4; stage++)
        for (enum precision p = PRECISION_fp32; p <= PRECISION_bf16; p++) {
            struct sync_memory m = strategy_memory_formula(kinds[stage], p, 4, 1000, 4, 2);
            assert_int_equal(m.params + m.grads + m.state, bytes[stage][p != PRECISION_fp32]);
        }
    assert_int_equal(strategy_memory_formula(STRATEGY_zero3, PRECISION_fp32, 3, 10, 4, 0).params,
                     4 * 4);
    assert_int_equal(strategy_memory_formula(STRATEGY_shm_zero1, PRECISION_fp32, 2, 10, 4, 1).state,
                     5 * 4);
}

static void stages_stand_for_strategies(void **state)
{
    const char *names[STRATEGIES];
    for (int stage = 0; stage <= 3; stage++)
        assert_int_equal(strategy_of_stage(STRATEGY_allreduce, stage),
                         ((const enum strategy_kind[]){STRATEGY_allreduce, STRATEGY_zero1,
                                                       STRATEGY_zero2, STRATEGY_zero3})[stage]);
    assert_int_equal(strategy_of_stage(STRATEGY_shm, 1), STRATEGY_shm_zero1);
    assert_int_equal(strategy_of_stage(STRATEGY_shm, 2), STRATEGY_shm_zero2);
    assert_int_equal(strategy_of_stage(STRATEGY_shm, 3), STRATEGY_shm_zero3);
    assert_int_equal(strategy_of_stage(STRATEGY_ring, 2), STRATEGIES);
    assert_int_equal(strategy_of_stage(STRATEGY_ring, 0), STRATEGY_ring);
    assert_int_equal(strategy_stage_list(1, names), 2);
    assert_string_equal(names[1], "shm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_follow_the_closed_forms),
        cmocka_unit_test(stages_cut_blocks),
        cmocka_unit_test(stages_keep_shares),
        cmocka_unit_test(ops_hold_all_their_tensors),
        cmocka_unit_test(memory_is_whole_pages),
        cmocka_unit_test(formulas_are_those_of_deepspeed),
        cmocka_unit_test(stages_stand_for_strategies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
