/* Runs schedules in one process: every send has its receive in the same round, and at the end every
 * rank has the result of the operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "comm/cost/library.h"
#include "comm/cost/library_rules.h"

enum { RANKS = 17, COUNT = 40, SEGMENTS = 3 };
/* Memory and schedules of all ranks. */
struct machine {
    struct schedule schedules[RANKS];
    struct round rounds[RANKS];
    long numbers[RANKS][COUNT], before[RANKS][COUNT];
};

static void assert_disjoint(const struct transfer *a, const struct transfer *b)
{
    assert_true(a->count == 0 || b->count == 0 || a->first + a->count <= b->first ||
                b->first + b->count <= a->first);
}

/* Checks that receive i overlaps no send, except that it may add into the range of send i. */
static void check_round(const struct round *r)
{
    for (int i = 0; i < r->n_receives; i++)
        for (int k = 0; k < r->n_sends; k++)
            if (i != k)
                assert_disjoint(&r->receives[i], &r->sends[k]);
}

/* Returns the send of `from` that matches receive i of `to`. Messages between two ranks keep their
 * order. */
static const struct transfer *find_send(const struct machine *m, int from, int to, int i)
{
    int skip = 0;
    for (int k = 0; k < i; k++)
        skip += m->rounds[to].receives[k].rank == from;
    for (int k = 0; k < m->rounds[from].n_sends; k++)
        if (m->rounds[from].sends[k].rank == to && skip-- == 0)
            return &m->rounds[from].sends[k];
    return NULL;
}

static void take(struct machine *m, int rank, int i)
{
    const struct transfer *in = &m->rounds[rank].receives[i];
    const struct transfer *out = find_send(m, in->rank, rank, i);
    assert_non_null(out);
    assert_int_equal(in->first, out->first);
    assert_int_equal(in->count, out->count);
    for (size_t k = in->first; k < in->first + in->count; k++)
        m->numbers[rank][k] = m->before[in->rank][k] + (in->add ? m->numbers[rank][k] : 0);
}

static void run_round(struct machine *m, int ranks, int i)
{
    int sends = 0, receives = 0;
    memcpy(m->before, m->numbers, sizeof m->before);
    for (int r = 0; r < ranks; r++) {
        schedule_round(&m->schedules[r], i, &m->rounds[r]);
        check_round(&m->rounds[r]);
        sends += m->rounds[r].n_sends;
        receives += m->rounds[r].n_receives;
    }
    assert_int_equal(sends, receives);
    for (int r = 0; r < ranks; r++)
        for (int k = 0; k < m->rounds[r].n_receives; k++)
            take(m, r, k);
}

/* Returns number k of rank r before an operation. */
static long number_of(int r, size_t k)
{
    return (long)(k + 1) << r;
}

static long sum_of(int ranks, size_t k)
{
    return (long)(k + 1) * ((1L << ranks) - 1);
}

static void run_operation(struct machine *m, const struct operation *op, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        m->schedules[r] = operation_schedule(op, r, ranks);
        for (size_t k = 0; k < op->count; k++)
            m->numbers[r][k] = number_of(r, k);
    }
    for (int i = 0; i < schedule_rounds(&m->schedules[0]); i++)
        run_round(m, ranks, i);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(schedule_rounds(&m->schedules[r]), schedule_rounds(&m->schedules[0]));
}

static void check_sums(const struct machine *m, int first, int end, size_t count, int ranks)
{
    for (int r = first; r < end; r++)
        for (size_t k = 0; k < count; k++)
            assert_int_equal(m->numbers[r][k], sum_of(ranks, k));
}

static void run(const struct schedule_rule *rule, const struct strategy_config *config, int ranks,
                size_t count)
{
    const struct operation op = operation_of_messages(rule, config, ranks, count, 4);
    struct machine m;
    run_operation(&m, &op, ranks);
    check_sums(&m, 0, ranks, count, ranks);
}

static void check_schedule(const struct schedule_rule *rule)
{
    const size_t counts[] = {0, 1, 2, 3, 7, 16, 17, 40}, segments[SEGMENTS] = {1, 5, 1000};
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            for (int s = 0; s < SEGMENTS; s++)
                run(rule,
                    &(struct strategy_config){.options[SYNC_segment] = (double)segments[s] * 4},
                    ranks, counts[n]);
}

static void every_schedule_sums_on_every_rank(void **state)
{
    int found = 0;
    for (int kind = 0; kind < STRATEGIES; kind++) {
        const struct schedule_rule *rule = strategy_schedule((enum strategy_kind)kind);
        if (rule != NULL)
            check_schedule(rule);
        found += rule != NULL;
    }
    assert_true(found >= 7);
}

static void run_on_nodes(const int *node_of, int node_ranks, int ranks)
{
    const struct strategy_config config = {
        .options[SYNC_segment] = 20, .node_of = node_of, .options[SYNC_node_ranks] = node_ranks};
    const size_t counts[] = {0, 1, 3, 17, 40};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        run(strategy_schedule(STRATEGY_hierarchical), &config, ranks, counts[n]);
        run(strategy_schedule(STRATEGY_leader), &config, ranks, counts[n]);
    }
}

/* Ranks are assigned to nodes in blocks (the last smaller), in turn, and in growing numbers. */
static void nodes_of_any_kind_sum(void **state)
{
    int node_of[RANKS];
    for (int ranks = 1; ranks <= RANKS; ranks++) {
        for (int group = 0; group <= ranks; group++)
            run_on_nodes(NULL, group, ranks);
        for (int nodes = 1; nodes <= ranks; nodes++) {
            for (int r = 0; r < ranks; r++)
                node_of[r] = r % nodes;
            run_on_nodes(node_of, 0, ranks);
        }
        for (int r = 0, node = 0; r < ranks; r++) {
            node += r == (node + 1) * (node + 2) / 2;
            node_of[r] = node;
        }
        run_on_nodes(node_of, 0, ranks);
    }
}

static void assert_same_view(const struct node_map *a, const struct node_map *b, int rank)
{
    struct node_view x = node_view_of(a, rank), y = node_view_of(b, rank);
    assert_true(x.node == y.node && x.place == y.place && x.size == y.size);
    assert_true(x.nodes == y.nodes && x.least == y.least && x.most == y.most);
    assert_int_equal(node_rank_at(a, x.node, x.place), rank);
    assert_int_equal(node_rank_at(b, y.node, y.place), rank);
}

/* Compares the closed form for groups of ranks with the same nodes as a list. */
static void groups_are_seen_as_lists_are(void **state)
{
    int node_of[RANKS];
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (int group = 1; group <= ranks + 1; group++) {
            const struct node_map groups = {.group = group, .ranks = ranks};
            const struct node_map list = {.node_of = node_of, .group = ranks, .ranks = ranks};
            for (int r = 0; r < ranks; r++)
                node_of[r] = r / group;
            for (int r = 0; r < ranks; r++)
                assert_same_view(&groups, &list, r);
        }
}

/* ---- The library ---- */

static void algorithms_of_the_library_sum(void **state)
{
    struct machine m;
    for (int ranks = 2; ranks <= RANKS; ranks++)
        for (size_t count = 1; count <= COUNT; count++)
            for (int a = 0; a < ALGORITHMS; a++) {
                const struct operation op =
                    library_allreduce((enum allreduce_algorithm)a, CALL_BLOCKING, ranks, count, 4);
                run_operation(&m, &op, ranks);
                check_sums(&m, 0, ranks, count, ranks);
            }
}

/* Numbers of 4 bytes use a tree; numbers of 3000 bytes use halving if there are at least as many as
 * ranks. */
static void reduces_sum_at_rank_0(void **state)
{
    struct machine m;
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (size_t count = 0; count <= COUNT; count++)
            for (size_t width = 4; width <= 3000; width += 2996) {
                const struct operation op = library_reduce(ranks, count, width);
                run_operation(&m, &op, ranks);
                check_sums(&m, 0, 1, count, ranks);
            }
}

static void check_broadcast(const struct schedule_rule *rule, int ranks, size_t count)
{
    const struct operation op = {
        .rule = rule, .count = count, .width = 1, .single = true, .cut = CUT_ROUNDED_UP};
    struct machine m;
    run_operation(&m, &op, ranks);
    for (int r = 0; r < ranks; r++)
        for (size_t k = 0; k < count; k++)
            assert_int_equal(m.numbers[r][k], number_of(0, k));
}

static void broadcasts_reach_every_rank(void **state)
{
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (size_t count = 0; count <= COUNT; count++) {
            check_broadcast(&rule_binomial_bcast, ranks, count);
            check_broadcast(&rule_scatter_ring, ranks, count);
            if ((ranks & (ranks - 1)) == 0)
                check_broadcast(&rule_scatter_doubling, ranks, count);
        }
}

static void messages_hold_a_number_at_least(void **state)
{
    const struct strategy_config config = {.options[SYNC_segment] = 3};
    struct schedule s = schedule_of(strategy_schedule(STRATEGY_tree), &config, 0, 2, 5, 8);
    assert_int_equal(s.segment, 1);
    assert_int_equal(schedule_messages(&s, 5), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_sums_on_every_rank),
        cmocka_unit_test(nodes_of_any_kind_sum),
        cmocka_unit_test(groups_are_seen_as_lists_are),
        cmocka_unit_test(algorithms_of_the_library_sum),
        cmocka_unit_test(reduces_sum_at_rank_0),
        cmocka_unit_test(broadcasts_reach_every_rank),
        cmocka_unit_test(messages_hold_a_number_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
