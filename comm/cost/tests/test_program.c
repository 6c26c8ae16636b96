/* Programs of all strategies, variants, compressors and algorithms: each transfer that a rank sends
 * is received by its partner in the same round, in order and with the same size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/program.h"

enum { RANKS_MOST = 13, TENSORS = 5 };

/* Checks each operation that it is given. */
struct checker {
    struct reader reader;
    int ranks;
    struct schedule schedules[RANKS_MOST];
    struct round rounds[RANKS_MOST];
    int operations;
};

/* Returns the receive that matches send i of `rank`. Messages between two ranks keep their
 * order. */
static const struct transfer *find_receive(const struct checker *c, int rank, int i)
{
    const struct transfer *sends = c->rounds[rank].sends;
    const struct round *other = &c->rounds[sends[i].rank];
    int skip = 0;
    for (int k = 0; k < i; k++)
        skip += sends[k].rank == sends[i].rank;
    for (int k = 0; k < other->n_receives; k++)
        if (other->receives[k].rank == rank && skip-- == 0)
            return &other->receives[k];
    return NULL;
}

/* Returns by how many the sends of a rank outnumber its receives. */
static int check_rank(const struct checker *c, int rank)
{
    const struct round *r = &c->rounds[rank];
    assert_in_range(r->n_sends, 0, ROUND_TRANSFERS);
    assert_in_range(r->n_receives, 0, ROUND_TRANSFERS);
    for (int i = 0; i < r->n_sends; i++) {
        assert_in_range(r->sends[i].rank, 0, c->ranks - 1);
        assert_int_not_equal(r->sends[i].rank, rank);
        const struct transfer *receive = find_receive(c, rank, i);
        assert_non_null(receive);
        assert_int_equal(receive->count, r->sends[i].count);
        assert_true(receive->count == 0 || receive->first == r->sends[i].first);
    }
    return r->n_sends - r->n_receives;
}

static void check(struct reader *reader, const struct operation *op)
{
    struct checker *c = (struct checker *)reader;
    c->operations++;
    if (op->rule == NULL)
        return;
    for (int r = 0; r < c->ranks; r++)
        c->schedules[r] = operation_schedule(op, r, c->ranks);
    for (int i = 0; i < schedule_rounds(&c->schedules[0]); i++) {
        int more = 0;
        for (int r = 0; r < c->ranks; r++)
            schedule_round(&c->schedules[r], i, &c->rounds[r]);
        for (int r = 0; r < c->ranks; r++) {
            more += check_rank(c, r);
            assert_true(c->rounds[r].meets == c->rounds[0].meets);
        }
        assert_int_equal(more, 0);
    }
}

static void check_program(enum strategy_kind kind, const struct strategy_config *config, int ranks)
{
    static const size_t counts[TENSORS] = {7, 0, 1000, 33, 40001};
    struct checker c = {.reader = {check}, .ranks = ranks};
    uint64_t steps = program_read(kind, config, ranks, counts, TENSORS, 4, &c.reader);
    assert_true(steps >= 1);
    assert_true((c.operations > 0) == (kind != STRATEGY_none));
}

static void check_choices(enum strategy_kind kind, struct strategy_config config, int ranks)
{
    bool compresses = (strategy_flags(kind) & STRATEGY_COMPRESSES) != 0;
    bool chooses = (strategy_flags(kind) & STRATEGY_ALGORITHMS) != 0;
    for (int a = 0; a < (chooses ? ALGORITHMS : 1); a++) {
        config.algorithm = (enum allreduce_algorithm)a;
        check_program(kind, &config, ranks);
    }
    for (int k = COMPRESSOR_none + 1; compresses && k < COMPRESSORS; k++) {
        config.compressor = (enum compressor_kind)k;
        check_program(kind, &config, ranks);
    }
}

static void what_is_sent_is_received(void **state)
{
    static const size_t rows[TENSORS] = {0, 0, 20, 3, 0};
    const char *names[VARIANTS];
    struct strategy_config config = {.rows = rows,
                                     .options = {[SYNC_segment] = 1024,
                                                 [SYNC_node_ranks] = 4,
                                                 [SYNC_topk] = 1,
                                                 [SYNC_rank] = 2,
                                                 [SYNC_cycle_ms] = 1}};
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        size_t variants = strategy_variant_list(kind, names);
        for (size_t v = 0; v < variants; v++)
            for (int ranks = 1; ranks <= RANKS_MOST; ranks++) {
                config.variant = strategy_variant_find(kind, names[v]);
                config.options[SYNC_servers] = 1 + ranks / 3;
                check_choices(kind, config, ranks);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_sent_is_received)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
