/* Counts of programs against closed forms and against conservation: all sent bytes are received. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/cost.h"

/* Returns the cost with whole messages. */
static struct cost cost_of(enum strategy_kind strategy, enum strategy_variant variant, int rank,
                           int ranks, const size_t *counts, size_t n, size_t width)
{
    const struct strategy_config config = {.variant = variant, .options[SYNC_segment] = 0x1p62};
    return strategy_cost(strategy, &config, rank, ranks, counts, n, width);
}

static struct cost allreduce(int rank, int ranks, size_t count)
{
    return cost_of(STRATEGY_allreduce, VARIANT_usual, rank, ranks, &count, 1, 4);
}

static void none_costs_nothing(void **state)
{
    size_t counts[] = {10, 20};
    struct cost c = cost_of(STRATEGY_none, VARIANT_usual, 0, 4, counts, 2, 4);
    assert_int_equal(c.calls + c.messages_wire + c.bytes_wire + c.bytes_payload, 0);
}

static void payload_is_the_whole_gradient(void **state)
{
    size_t counts[] = {260, 5020, 16050, 510};
    struct cost c = cost_of(STRATEGY_allreduce, VARIANT_usual, 0, 2, counts, 4, 4);
    assert_int_equal(c.calls, 1);
    assert_int_equal(c.bytes_payload, 87360);
}

static void one_rank_sends_nothing(void **state)
{
    assert_int_equal(allreduce(0, 1, 1000).messages_wire, 0);
}

/* 2 lg p messages and 2 (p-1)/p n bytes where p is a power of two that divides n. */
static void powers_of_two_follow_the_closed_form(void **state)
{
    for (int ranks = 2, lg = 1; ranks <= 64; ranks *= 2, lg++) {
        for (int rank = 0; rank < ranks; rank++) {
            struct cost c = allreduce(rank, ranks, 6400);
            assert_int_equal(c.messages_wire, 2 * lg);
            assert_int_equal(c.bytes_wire, 2 * (uint64_t)(ranks - 1) * 6400 / (uint64_t)ranks * 4);
        }
    }
}

/* Folded ranks send their whole vector once; their partners also send the result back. */
static void other_counts_fold_first(void **state)
{
    assert_int_equal(allreduce(0, 3, 1000).messages_wire, 1);
    assert_int_equal(allreduce(0, 3, 1000).bytes_wire, 4000);
    assert_int_equal(allreduce(1, 3, 1000).messages_wire, 3);
    assert_int_equal(allreduce(1, 3, 1000).bytes_wire, 4000 + 4000);
    assert_int_equal(allreduce(2, 3, 1000).messages_wire, 2);
    assert_int_equal(allreduce(2, 3, 1000).bytes_wire, 4000);
}

/* Reduce-scatter and allgather move every block p'-1 times each, whatever the remainder. */
static void all_ranks_together_move_every_block(void **state)
{
    for (size_t count = 0; count < 40; count++) {
        uint64_t total = 0;
        for (int rank = 0; rank < 4; rank++)
            total += allreduce(rank, 4, count).bytes_wire;
        /* Vectors of fewer numbers than ranks are exchanged whole, twice. */
        assert_int_equal(total, (count < 4 ? 4 * 2 : 2 * 3) * count * 4);
    }
}

/* Three tensors need three calls instead of one, and messages for each tensor that is not empty. */
static void a_sum_a_tensor_pays_latency_for_each(void **state)
{
    const size_t counts[] = {8, 0, 24};
    struct cost c = cost_of(STRATEGY_allreduce_layer, VARIANT_usual, 1, 2, counts, 3, 4);
    assert_int_equal(c.calls, 3);
    assert_int_equal(c.bytes_payload, 128);
    assert_int_equal(c.messages_wire, 2 * 2);
    assert_int_equal(c.bytes_wire, 128);
    struct cost alone = cost_of(STRATEGY_allreduce_layer, VARIANT_usual, 0, 1, counts, 3, 4);
    assert_int_equal(alone.calls, 3);
    assert_int_equal(alone.messages_wire, 0);
}

static struct cost asked(enum allreduce_algorithm algorithm, int rank, int ranks, size_t count)
{
    const struct strategy_config config = {.algorithm = algorithm};
    return strategy_cost(STRATEGY_allreduce, &config, rank, ranks, &count, 1, 4);
}

/* With three ranks, the first folds into the second: 24 bytes each way. */
static void algorithms_by_name_follow_their_forms(void **state)
{
    const uint64_t doubling[3][2] = {{1, 24}, {2, 48}, {1, 24}};
    const uint64_t ring[3][2] = {{4, 2 * 24 - 16}, {4, 2 * 24 - 16}, {4, 2 * 24 - 16}};
    const uint64_t tree[3][2] = {{2, 48}, {1, 24}, {1, 24}};
    for (int r = 0; r < 3; r++) {
        struct cost d = asked(ALGORITHM_recursive_doubling, r, 3, 6);
        struct cost g = asked(ALGORITHM_ring, r, 3, 6);
        struct cost t = asked(ALGORITHM_tree, r, 3, 6);
        assert_true(d.messages_wire == doubling[r][0] && d.bytes_wire == doubling[r][1]);
        assert_true(g.messages_wire == ring[r][0] && g.bytes_wire == ring[r][1]);
        assert_true(t.messages_wire == tree[r][0] && t.bytes_wire == tree[r][1]);
    }
    assert_string_equal(asked(ALGORITHM_ring, 0, 3, 6).wire_source, "formula: ring");
    assert_string_equal(asked(ALGORITHM_tree, 0, 3, 6).wire_source, "formula: tree");
}

/* The library chooses if sync.algorithm is auto. Vectors with fewer numbers than ranks are not
 * cut. */
static void short_vectors_are_exchanged_whole(void **state)
{
    static const char whole[] = "formula: recursive_doubling";
    static const char cut[] = "formula: reduce_scatter_allgather";
    assert_string_equal(asked(ALGORITHM_auto, 0, 2, 2).wire_source, whole);
    assert_string_equal(asked(ALGORITHM_auto, 0, 2, 3).wire_source, cut);
    assert_string_equal(asked(ALGORITHM_auto, 0, 8, 7).wire_source, whole);
    assert_string_equal(asked(ALGORITHM_auto, 0, 8, 8).wire_source, cut);
    assert_string_equal(asked(ALGORITHM_reduce_scatter_allgather, 0, 2, 2).wire_source, cut);
    assert_string_equal(asked(ALGORITHM_reduce_scatter_allgather, 0, 8, 7).wire_source, whole);
}

/* ---- Through rank 0 ---- */

/* Expected messages of a rank, counted by hand. */
struct sent {
    uint64_t messages, bytes;
};

static void check_sent(enum strategy_kind strategy, enum strategy_variant variant, int ranks,
                       const size_t *counts, size_t n, const struct sent *expected)
{
    for (int rank = 0; rank < ranks; rank++) {
        struct cost c = cost_of(strategy, variant, rank, ranks, counts, n, 4);
        assert_int_equal(c.messages_wire, expected[rank].messages);
        assert_int_equal(c.bytes_wire, expected[rank].bytes);
    }
}

static void check_reduce_bcast(int ranks, size_t count, const struct sent *expected,
                               const char *source)
{
    enum strategy_variant plain = VARIANT_reduce_bcast_plain;
    check_sent(STRATEGY_reduce_bcast, plain, ranks, &count, 1, expected);
    struct cost c = cost_of(STRATEGY_reduce_bcast, plain, ranks - 1, ranks, &count, 1, 4);
    assert_int_equal(c.calls, 2);
    assert_int_equal(c.bytes_payload, 2 * count * 4);
    assert_string_equal(c.wire_source, source);
}

/* Up: 1 to 0, 3 to 2, 2 to 0. Down: 0 to 2 and 1, 2 to 3. */
static void short_gradients_go_along_trees(void **state)
{
    const struct sent four[] = {{2, 800}, {1, 400}, {2, 800}, {1, 400}};
    const struct sent three[] = {{2, 800}, {1, 400}, {1, 400}};
    check_reduce_bcast(4, 100, four, "formula: binomial, binomial");
    check_reduce_bcast(3, 100, three, "formula: binomial, binomial");
}

/* 4096 bytes are halved with the neighbour (2048), then with the rank two away (1024). Ranks 2 and
 * 3 return their quarters, rank 1 its half. Then rank 0 sends all numbers to ranks 2 and 1, and
 * rank 2 to rank 3. With three ranks, rank 1 sends all numbers to rank 0, which halves with rank
 * 2. */
static void long_gradients_are_halved_and_collected(void **state)
{
    const struct sent four[] = {{4, 3072 + 8192}, {3, 3072 + 2048}, {4, 4096 + 4096}, {3, 4096}};
    const struct sent three[] = {{3, 2048 + 8192}, {1, 4096}, {2, 4096}};
    check_reduce_bcast(4, 1024, four, "formula: reduce_scatter_gather, binomial");
    check_reduce_bcast(3, 1024, three, "formula: reduce_scatter_gather, binomial");
}

/* 8 ranks, 16384 bytes in blocks of 2048: rank 0 halves (3 messages, 7 blocks), scatters (3, 7) and
 * passes 7 blocks around the ring; rank 7 halves, returns one block and passes 7. */
static struct cost broadcast(int rank, int ranks, size_t count)
{
    return cost_of(STRATEGY_reduce_bcast, VARIANT_reduce_bcast_plain, rank, ranks, &count, 1, 4);
}

/* Eight blocks: the sum is halved in 3 messages and collected; the root scatters in 3 messages, the
 * last rank passes nothing on; then groups of 1, 2 and 4 exchange their blocks. */
static void many_ranks_broadcast_by_doubling(void **state)
{
    struct cost first = broadcast(0, 8, 4096), last = broadcast(7, 8, 4096);
    assert_string_equal(first.wire_source,
                        "formula: reduce_scatter_gather, scatter_recursive_doubling_allgather");
    assert_int_equal(first.messages_wire, 3 + 3 + 3);
    assert_int_equal(first.bytes_wire, (7 + 7 + 7) * 2048);
    assert_int_equal(last.messages_wire, 3 + 1 + 3);
    assert_int_equal(last.bytes_wire, (7 + 1 + 7) * 2048);
}

/* Longer messages use a ring, and so do medium ones if ranks are no power of two. */
static void many_ranks_broadcast_around_a_ring(void **state)
{
    static const char ring[] = "formula: reduce_scatter_gather, scatter_ring_allgather";
    size_t block = 65540;
    struct cost first = broadcast(0, 8, 2 * block), last = broadcast(7, 8, 2 * block);
    assert_string_equal(first.wire_source, ring);
    assert_int_equal(first.messages_wire, 3 + 3 + 7);
    assert_int_equal(first.bytes_wire, (7 + 7 + 7) * block);
    assert_int_equal(last.messages_wire, 3 + 1 + 7);
    assert_int_equal(last.bytes_wire, (7 + 1 + 7) * block);
    assert_string_equal(broadcast(0, 9, 4096).wire_source, ring);
}

/* A size equal to a limit counts as short. */
static void broadcasts_change_beyond_their_limits(void **state)
{
    static const char tree[] = "formula: reduce_scatter_gather, binomial";
    assert_string_equal(broadcast(0, 8, 12288 / 4).wire_source, tree);
    assert_string_equal(broadcast(0, 7, 1 << 20).wire_source, tree);
    assert_string_equal(broadcast(0, 8, 524288 / 4).wire_source,
                        "formula: reduce_scatter_gather, scatter_recursive_doubling_allgather");
}

/* Tensors of 3 and 5 numbers take 2 * 16 + 32 = 64 bytes; a message of 8 bytes with the length
 * precedes them. */
static void pickles_are_sent_with_their_lengths(void **state)
{
    const size_t counts[] = {3, 5};
    const struct sent three[] = {{4, 144}, {2, 72}, {2, 72}};
    enum strategy_variant pickled = VARIANT_reduce_bcast_pickled;
    assert_int_equal(pickle_bytes(counts, 2, 4), 64);
    check_sent(STRATEGY_reduce_bcast, pickled, 3, counts, 2, three);
    struct cost root = cost_of(STRATEGY_reduce_bcast, pickled, 0, 3, counts, 2, 4);
    struct cost leaf = cost_of(STRATEGY_reduce_bcast, pickled, 2, 3, counts, 2, 4);
    assert_int_equal(root.calls, 2 * 2 + 2);
    assert_int_equal(root.bytes_payload, 3 * 72);
    assert_int_equal(leaf.calls, 2 + 2);
    assert_int_equal(leaf.bytes_payload, 2 * 72);
}

static void linear_gather_goes_through_the_root(void **state)
{
    const size_t counts[] = {3, 5};
    const struct sent four[] = {{6, 96}, {2, 32}, {2, 32}, {2, 32}};
    enum strategy_variant linear = VARIANT_gather_scatter_linear;
    check_sent(STRATEGY_gather_scatter, linear, 4, counts, 2, four);
    struct cost root = cost_of(STRATEGY_gather_scatter, linear, 0, 4, counts, 2, 4);
    struct cost leaf = cost_of(STRATEGY_gather_scatter, linear, 3, 4, counts, 2, 4);
    assert_int_equal(root.calls, 2 * 2 * 3);
    assert_int_equal(root.bytes_payload, 2 * 96);
    assert_int_equal(leaf.calls, 2 * 2);
    assert_int_equal(leaf.bytes_payload, 64);
    assert_string_equal(root.wire_source, "counted");
}

/* Rank 2 carries rank 3's numbers both ways. */
static void library_gather_goes_along_a_tree(void **state)
{
    const size_t counts[] = {3, 5};
    const struct sent four[] = {{4, 96}, {2, 32}, {4, 96}, {2, 32}};
    enum strategy_variant mpich = VARIANT_gather_scatter_mpich;
    check_sent(STRATEGY_gather_scatter, mpich, 4, counts, 2, four);
    struct cost root = cost_of(STRATEGY_gather_scatter, mpich, 0, 4, counts, 2, 4);
    assert_int_equal(root.calls, 4);
    assert_int_equal(root.bytes_payload, 64);
}

static void nobody_to_send_to_costs_no_message(void **state)
{
    const size_t counts[] = {3, 5};
    const struct sent none = {0, 0};
    check_sent(STRATEGY_reduce_bcast, VARIANT_reduce_bcast_plain, 1, counts, 2, &none);
    check_sent(STRATEGY_reduce_bcast, VARIANT_reduce_bcast_pickled, 1, counts, 2, &none);
    check_sent(STRATEGY_gather_scatter, VARIANT_gather_scatter_linear, 1, counts, 2, &none);
    check_sent(STRATEGY_gather_scatter, VARIANT_gather_scatter_mpich, 1, counts, 2, &none);
}

/* ---- Schedules of messages ---- */

/* 10 numbers in blocks of 4, 3, 3, in messages of 2: rank 0 passes on blocks 0, 2, then 1, 0. */
static void ring_messages_are_cut(void **state)
{
    const size_t count = 10;
    const struct strategy_config config = {.options[SYNC_segment] = 8};
    struct cost c = strategy_cost(STRATEGY_ring, &config, 0, 3, &count, 1, 4);
    assert_int_equal(c.messages_wire, 2 + 2 + 2 + 2);
    assert_int_equal(c.bytes_wire, (4 + 3 + 3 + 4) * 4);
    assert_int_equal(c.calls, 8 + (2 + 2 + 2 + 2)); /* receives blocks 2, 1, then 0, 2 */
    assert_int_equal(c.bytes_payload, 56 + (3 + 3 + 4 + 3) * 4);
    assert_string_equal(c.wire_source, "counted");
}

/* 2 (p-1) messages of n/p numbers. */
static void ring_follows_the_closed_form(void **state)
{
    for (int ranks = 1; ranks <= 16; ranks++) {
        size_t block = 96, count = block / 4 * (size_t)ranks;
        uint64_t steps = (uint64_t)ranks - 1;
        for (int rank = 0; rank < ranks; rank++) {
            struct cost c = cost_of(STRATEGY_ring, VARIANT_usual, rank, ranks, &count, 1, 4);
            assert_int_equal(c.messages_wire, 2 * steps);
            assert_int_equal(c.bytes_wire, 2 * steps * block);
        }
    }
}

/* lg p messages of n numbers, and one more for pairs that fold. With 6 ranks, 0 and 2 pause. */
static void recursive_doubling_follows_the_closed_form(void **state)
{
    const size_t count = 25;
    const struct sent eight[] = {{3, 300}, {3, 300}, {3, 300}, {3, 300},
                                 {3, 300}, {3, 300}, {3, 300}, {3, 300}};
    const struct sent six[] = {{1, 100}, {3, 300}, {1, 100}, {3, 300}, {2, 200}, {2, 200}};
    check_sent(STRATEGY_recursive_doubling, VARIANT_usual, 8, &count, 1, eight);
    check_sent(STRATEGY_recursive_doubling, VARIANT_usual, 6, &count, 1, six);
}

/* The library's allreduce runs the same algorithm, with other blocks if numbers are not
 * divisible. */
static void rabenseifner_sends_what_the_library_sends(void **state)
{
    for (int ranks = 1; ranks <= 17; ranks++) {
        for (int rank = 0; rank < ranks; rank++) {
            size_t count = 160;
            struct cost ours =
                cost_of(STRATEGY_rabenseifner, VARIANT_usual, rank, ranks, &count, 1, 4);
            struct cost library = allreduce(rank, ranks, count);
            assert_int_equal(ours.messages_wire, library.messages_wire);
            assert_int_equal(ours.bytes_wire, library.bytes_wire);
        }
    }
}

/* Seven ranks, five segments of 16 bytes and one of 8: inner ranks send each to their parent and
 * two children. */
static void tree_is_a_pipeline(void **state)
{
    const size_t count = 22;
    const struct strategy_config config = {.options[SYNC_segment] = 16};
    const struct sent expected[] = {{12, 176}, {18, 264}, {18, 264}, {6, 88},
                                    {6, 88},   {6, 88},   {6, 88}};
    for (int rank = 0; rank < 7; rank++) {
        struct cost c = strategy_cost(STRATEGY_tree, &config, rank, 7, &count, 1, 4);
        assert_int_equal(c.messages_wire, expected[rank].messages);
        assert_int_equal(c.bytes_wire, expected[rank].bytes);
    }
}

/* Three ranks, two segments: up to 1 and 2, down again; the ends of the chain send half as much. */
static void fixed_order_is_a_chain(void **state)
{
    const size_t count = 6;
    const struct strategy_config config = {.options[SYNC_segment] = 16};
    const struct sent expected[] = {{2, 24}, {4, 48}, {2, 24}};
    for (int rank = 0; rank < 3; rank++) {
        struct cost c = strategy_cost(STRATEGY_fixed_order, &config, rank, 3, &count, 1, 4);
        assert_int_equal(c.messages_wire, expected[rank].messages);
        assert_int_equal(c.bytes_wire, expected[rank].bytes);
    }
}

static void check_nodes(enum strategy_kind strategy, int node_ranks, int ranks, size_t count,
                        const struct sent *expected)
{
    const struct strategy_config config = {.options[SYNC_segment] = 0x1p62,
                                           .options[SYNC_node_ranks] = node_ranks};
    for (int rank = 0; rank < ranks; rank++) {
        struct cost c = strategy_cost(strategy, &config, rank, ranks, &count, 1, 4);
        assert_int_equal(c.messages_wire, expected[rank].messages);
        assert_int_equal(c.bytes_wire, expected[rank].bytes);
    }
}

/* 64 numbers. On k nodes of q ranks, each rank sends 2 (q-1)/q n + 2 (k-1)/k n/q bytes. On nodes
 * with 3 ranks and 1 rank, both strategies send the same: the numbers of ranks 1 and 2 go to rank 0
 * and come back. */
static void nodes_send_slices_or_let_one_lead(void **state)
{
    const struct sent slices[] = {{8, 448}, {8, 448}, {8, 448}, {8, 448},
                                  {8, 448}, {8, 448}, {8, 448}, {8, 448}};
    const struct sent leaders[] = {{4, 768}, {1, 256}, {2, 512}, {1, 256},
                                   {4, 768}, {1, 256}, {2, 512}, {1, 256}};
    const struct sent uneven[] = {{4, 768}, {1, 256}, {1, 256}, {2, 256}};
    check_nodes(STRATEGY_hierarchical, 4, 8, 64, slices);
    check_nodes(STRATEGY_leader, 4, 8, 64, leaders);
    check_nodes(STRATEGY_hierarchical, 3, 4, 64, uneven);
    check_nodes(STRATEGY_leader, 3, 4, 64, uneven);
}

static void shared_memory_sends_nothing(void **state)
{
    const size_t count = 10;
    const struct sent none[3] = {{0, 0}};
    check_sent(STRATEGY_shm, VARIANT_usual, 3, &count, 1, none);
    check_sent(STRATEGY_shm_zero1, VARIANT_usual, 3, &count, 1, none);
    check_sent(STRATEGY_shm_zero2, VARIANT_usual, 3, &count, 1, none);
    check_sent(STRATEGY_shm_zero3, VARIANT_usual, 3, &count, 1, none);
}

/* ---- The tables ---- */

static void variants_belong_to_their_strategies(void **state)
{
    const char *names[VARIANTS];
    assert_int_equal(strategy_variant_find(STRATEGY_allreduce, "usual"), VARIANT_usual);
    assert_int_equal(strategy_variant_find(STRATEGY_allreduce, "plain"), VARIANTS);
    assert_int_equal(strategy_variant_find(STRATEGY_reduce_bcast, "usual"),
                     VARIANT_reduce_bcast_plain);
    assert_int_equal(strategy_variant_find(STRATEGY_reduce_bcast, "pickled"),
                     VARIANT_reduce_bcast_pickled);
    assert_int_equal(strategy_variant_find(STRATEGY_reduce_bcast, "linear"), VARIANTS);
    assert_int_equal(strategy_variant_list(STRATEGY_none, names), 1);
    assert_int_equal(strategy_variant_list(STRATEGY_gather_scatter, names), 3);
    assert_string_equal(names[0], "usual");
    assert_string_equal(names[2], "mpich");
    assert_string_equal(strategy_variant_name(VARIANT_reduce_bcast_pickled), "pickled");
    assert_string_equal(strategy_variant_name(VARIANT_usual), "usual");
}

static void table_is_complete(void **state)
{
    const struct strategy_config config = {.options[SYNC_segment] = 64};
    const size_t count = 100;
    for (int s = 0; s < STRATEGIES; s++) {
        struct cost c = strategy_cost((enum strategy_kind)s, &config, 1, 3, &count, 1, 4);
        assert_true(c.steps >= 1 && c.wire_source[0] != '\0');
        assert_true(strategy_names()[s][0] != '\0');
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
        cmocka_unit_test(a_sum_a_tensor_pays_latency_for_each),
        cmocka_unit_test(algorithms_by_name_follow_their_forms),
        cmocka_unit_test(short_vectors_are_exchanged_whole),
        cmocka_unit_test(short_gradients_go_along_trees),
        cmocka_unit_test(long_gradients_are_halved_and_collected),
        cmocka_unit_test(many_ranks_broadcast_by_doubling),
        cmocka_unit_test(many_ranks_broadcast_around_a_ring),
        cmocka_unit_test(broadcasts_change_beyond_their_limits),
        cmocka_unit_test(pickles_are_sent_with_their_lengths),
        cmocka_unit_test(linear_gather_goes_through_the_root),
        cmocka_unit_test(library_gather_goes_along_a_tree),
        cmocka_unit_test(nobody_to_send_to_costs_no_message),
        cmocka_unit_test(ring_messages_are_cut),
        cmocka_unit_test(ring_follows_the_closed_form),
        cmocka_unit_test(recursive_doubling_follows_the_closed_form),
        cmocka_unit_test(rabenseifner_sends_what_the_library_sends),
        cmocka_unit_test(tree_is_a_pipeline),
        cmocka_unit_test(fixed_order_is_a_chain),
        cmocka_unit_test(nodes_send_slices_or_let_one_lead),
        cmocka_unit_test(shared_memory_sends_nothing),
        cmocka_unit_test(variants_belong_to_their_strategies),
        cmocka_unit_test(table_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
