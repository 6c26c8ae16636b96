/* Nodes as MPI reports them. MPICH is told to treat this machine as two nodes.
 * double: 3 */
#include "comm/tests/mpi_test.h"

#include <stdlib.h>

#include "comm/nodes.h"
#include "comm/tests/sync_fixture.h"

enum { NUMBERS = 1009 };

static bool open_sync(struct fixture *f, enum strategy_kind kind)
{
    fixture_init(f);
    f->config.options[SYNC_segment] = 1024;
    fixture_cut(f, NUMBERS);
    return fixture_open(f, kind);
}

/* Finds first [ranks], the first rank of each rank's node, by the node's communicator. */
static void ask_library(int *first)
{
    MPI_Comm node;
    int mine = mpi_world_rank();
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mine, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&mine, 1, MPI_INT, first, 1, MPI_INT, MPI_COMM_WORLD);
}

static void ranks_of_a_node_share_memory(void **state)
{
    struct fixture f;
    struct error e;
    int ranks = mpi_world_ranks(), nodes = 0;
    int *node_of = calloc((size_t)ranks, sizeof *node_of);
    int *first = calloc((size_t)ranks, sizeof *first);
    assert_all(open_sync(&f, STRATEGY_allreduce));
    ask_library(first);
    bool good = nodes_find(f.waiter, MPI_COMM_WORLD, node_of, &e) == OK;
    for (int r = 0; r < ranks && good; r++) {
        good = first[r] == r ? node_of[r] == nodes : node_of[r] == node_of[first[r]];
        nodes += first[r] == r;
    }
    good = good && nodes == (ranks > 1 ? 2 : 1);
    free(node_of);
    free(first);
    sync_destroy(f.sync);
    assert_all(good);
}

static bool sums(enum strategy_kind kind)
{
    struct fixture f;
    bool good = open_sync(&f, kind);
    fixture_fill(&f);
    good = good && fixture_step(&f, 1) && fixture_has_summed(&f, 1);
    sync_destroy(f.sync);
    return good;
}

static void strategies_sum_over_nodes(void **state)
{
    assert_all(sums(STRATEGY_hierarchical));
    assert_all(sums(STRATEGY_leader));
}

int main(int argc, char **argv)
{
    setenv("MPIR_CVAR_NUM_CLIQUES", "2", 1);
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_a_node_share_memory),
        cmocka_unit_test(strategies_sum_over_nodes),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
