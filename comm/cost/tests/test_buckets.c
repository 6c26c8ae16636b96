/* Buckets of DDP and fused tensors of Horovod: limits, costs, and communication hidden behind
 * backward. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/cost.h"
#include "comm/cost/strategies/fusion.h"

/* Sizes of vgg11 with batch normalisation for CIFAR-10: eight convolutions (weights, bias, scale
 * and shift), then one dense layer. */
enum { VGG_TENSORS = 34 };
static void count_vgg11_bn(size_t counts[VGG_TENSORS])
{
    const size_t channels[] = {3, 64, 128, 256, 256, 512, 512, 512, 512};
    size_t n = 0;
    for (int i = 1; i <= 8; i++) {
        counts[n++] = channels[i - 1] * channels[i] * 9;
        for (int k = 0; k < 3; k++)
            counts[n++] = channels[i];
    }
    counts[n++] = 5120;
    counts[n++] = 10;
}

/* Checks the buckets of vgg11_bn; expected [n] in hundredths of a MiB. */
static void check_buckets(double cap_mib, double first_cap_mib, const int *expected, int n)
{
    size_t counts[VGG_TENSORS];
    const struct strategy_config config = {.options[SYNC_cap_mib] = cap_mib,
                                           .options[SYNC_first_cap_mib] = first_cap_mib};
    count_vgg11_bn(counts);
    struct bucket b = bucket_first(&config, counts, VGG_TENSORS, 4);
    for (int i = 0; i < n; i++, b = bucket_next(&config, counts, 4, &b))
        assert_int_equal((int)((double)b.count * 400 / 0x1p20 + 0.5), expected[i]);
    assert_true(b.first == 0 && b.last == 0);
}

/* Buckets of DistributedDataParallel, with its first cap and with equal caps. */
static void buckets_are_those_of_ddp(void **state)
{
    check_buckets(1, 1, (const int[]){903, 901, 901, 451, 225, 113, 29}, 7);
    check_buckets(5, 1, (const int[]){903, 901, 901, 676, 142}, 5);
    check_buckets(10, 1, (const int[]){903, 1801, 818}, 3);
    check_buckets(25, 1, (const int[]){903, 2590, 29}, 3);
    check_buckets(50, 1, (const int[]){903, 2619}, 2);
    check_buckets(10, 10, (const int[]){1803, 1351, 367}, 3);
    check_buckets(50, 50, (const int[]){3521}, 1);
}

/* Tensors have 4, 2, 2 and 8 numbers; the last tensor is ready first. Times are exact in binary. */
static void check_exposed(size_t cap_bytes, double comm, double expected)
{
    static const size_t counts[] = {4, 2, 2, 8};
    static const double ready[] = {8, 6, 4, 1};
    const struct strategy_config config = {.options[SYNC_cap_mib] = cap_bytes / 0x1p20,
                                           .options[SYNC_first_cap_mib] = cap_bytes / 0x1p20};
    assert_true(strategy_exposed(STRATEGY_bucketed, &config, counts, ready, 4, 4, 8, comm) ==
                expected);
}

/* In the order of their start, sums take 1/2, 1/8, 1/8 and 1/4 of the time. */
static void sums_hide_behind_what_is_left_of_backward(void **state)
{
    check_exposed(0, 0, 0);
    check_exposed(0, 4, 1); /* each sum ends before the next tensor is ready; the last is exposed */
    check_exposed(0, 16, 9);      /* each sum waits for the previous one: 1 + 16 - 8 */
    check_exposed(0, 10, 3);      /* 1 + 5 = 6 > 4, 7.25 > 6, 8.5 > 8, 11 */
    check_exposed(1 << 20, 4, 4); /* one bucket, ready at the end */
    check_exposed(16, 4, 1);      /* 8 | 2 + 2 | 4: 3, 6 + 1, 8 + 1 */
    check_exposed(17, 4, 2);      /* 8 | 2 + 2 + 4: 3, 8 + 2 */
}

/* With cap 0 each tensor is a bucket. Tensors up to 2 KiB use recursive doubling. */
static void buckets_are_summed_one_by_one(void **state)
{
    const size_t counts[] = {512, 1024};
    const struct strategy_config tensors = {0},
                                 all = {.options[SYNC_cap_mib] = 8192 / 0x1p20,
                                        .options[SYNC_first_cap_mib] = 8192 / 0x1p20};
    struct cost c = strategy_cost(STRATEGY_bucketed, &tensors, 1, 3, counts, 2, 4);
    assert_int_equal(c.calls, 2);
    assert_int_equal(c.bytes_payload, 6144);
    assert_int_equal(c.messages_wire, 2 + 3); /* the carrier of rank 0: lg 2 + 1 and 2 lg 2 + 1 */
    assert_int_equal(c.bytes_wire, 2 * 2048 + 4096 + 2 * 2048);
    assert_string_equal(c.wire_source, "formula: recursive_doubling, reduce_scatter_allgather");
    c = strategy_cost(STRATEGY_bucketed, &all, 0, 2, counts, 2, 4);
    assert_int_equal(c.calls, 1);
    assert_int_equal(c.messages_wire, 2);
    assert_int_equal(c.bytes_wire, 6144);
    assert_string_equal(c.wire_source, "formula: reduce_scatter_allgather");
}

static void check_fusion(double mib, int64_t cycle_ns, const int *expected, int n)
{
    size_t counts[VGG_TENSORS];
    const struct strategy_config config = {.options[SYNC_fusion_mib] = mib,
                                           .options[SYNC_cycle_ms] = (double)cycle_ns / 1e6};
    count_vgg11_bn(counts);
    struct bucket b = {.first = VGG_TENSORS};
    for (int i = 0; i < n; i++) {
        b = fusion_next(&config, counts, b.first, 0, 4);
        assert_int_equal((int)((double)b.count * 400 / 0x1p20 + 0.5), expected[i]);
    }
    assert_true(b.first == 0);
}

/* Unlike a bucket, fused tensors stay below the threshold; a single tensor may exceed it. */
static void fused_tensors_fit_the_threshold(void **state)
{
    check_fusion(128, 1, (const int[]){3521}, 1);
    check_fusion(10, 1, (const int[]){903, 901, 901, 817}, 4);
    const size_t counts[] = {512, 1024, 512};
    struct strategy_config config = {.options[SYNC_fusion_mib] = 6144 / 0x1p20,
                                     .options[SYNC_cycle_ms] = 1 / 1e6};
    struct bucket b = fusion_next(&config, counts, 3, 0, 4);
    assert_true(b.first == 1 && b.last == 3 && b.count == 1536);
    b = fusion_next(&config, counts, 3, 2, 4); /* other tensors are not ready on all ranks */
    assert_true(b.first == 2 && b.last == 3);
    config.options[SYNC_fusion_mib] = 0 / 0x1p20;
    b = fusion_next(&config, counts, 3, 0, 4);
    assert_true(b.first == 2 && b.last == 3);
    config = (struct strategy_config){.options[SYNC_fusion_mib] = 6144 / 0x1p20};
    b = fusion_next(&config, counts, 3, 0, 4);
    assert_true(b.first == 2 && b.last == 3);
}

/* Two sums follow one allreduce of four bytes, by which ranks agree. Without cycles ranks do not
 * agree. */
static void fusion_costs_a_question_and_full_messages(void **state)
{
    const size_t counts[] = {512, 1024, 512};
    struct strategy_config config = {.options[SYNC_fusion_mib] = 6144 / 0x1p20,
                                     .options[SYNC_cycle_ms] = 1 / 1e6};
    struct cost c = strategy_cost(STRATEGY_fusion, &config, 0, 2, counts, 3, 4);
    assert_int_equal(c.calls, 3);
    assert_int_equal(c.bytes_payload, 8192 + 4);
    assert_int_equal(c.messages_wire, 1 + 2 + 1);
    assert_int_equal(c.bytes_wire, 4 + 6144 + 2048);
    assert_string_equal(c.wire_source, "formula: recursive_doubling, reduce_scatter_allgather");
    config.options[SYNC_cycle_ms] = 0 / 1e6;
    c = strategy_cost(STRATEGY_fusion, &config, 0, 2, counts, 3, 4);
    assert_int_equal(c.calls, 3);
    assert_int_equal(c.bytes_payload, 8192);
    assert_int_equal(c.messages_wire, 1 + 2 + 1);
}

/* The library's recursive doubling sends as much as the strategy of this name. */
static void short_buckets_send_what_recursive_doubling_sends(void **state)
{
    /* Large segments keep messages whole. */
    const struct strategy_config config = {.options[SYNC_segment] = 0x1p62};
    size_t count = 100;
    for (int ranks = 1; ranks <= 17; ranks++) {
        for (int rank = 0; rank < ranks; rank++) {
            struct cost bucket =
                strategy_cost(STRATEGY_bucketed, &config, rank, ranks, &count, 1, 4);
            struct cost schedule =
                strategy_cost(STRATEGY_recursive_doubling, &config, rank, ranks, &count, 1, 4);
            assert_int_equal(bucket.messages_wire, schedule.messages_wire);
            assert_int_equal(bucket.bytes_wire, schedule.bytes_wire);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_those_of_ddp),
        cmocka_unit_test(sums_hide_behind_what_is_left_of_backward),
        cmocka_unit_test(buckets_are_summed_one_by_one),
        cmocka_unit_test(fused_tensors_fit_the_threshold),
        cmocka_unit_test(fusion_costs_a_question_and_full_messages),
        cmocka_unit_test(short_buckets_send_what_recursive_doubling_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
