/* Nodes as the library finds them: MPICH is told to take this machine for two. */
#include "comm/tests/mpi_test.h"

#include <stdlib.h>

#include "comm/nodes.h"

enum { NUMBERS = 1009 };

struct fixture {
    struct tensor_desc tensor;
    struct net_desc desc;
    struct exec exec;
    struct waiter waiter;
    struct sync *sync;
    struct optimizer optimizer;
};

static bool open_sync(struct fixture *f, enum strategy_kind kind)
{
    struct error e;
    f->tensor = (struct tensor_desc){.name = "w", .n_dims = 1, .dims = {NUMBERS}, .count = NUMBERS};
    f->desc = (struct net_desc){.tensors = &f->tensor, .n_tensors = 1, .n_params = NUMBERS};
    f->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd, .n = NUMBERS};
    struct sync_options options = {.comm = MPI_COMM_WORLD,
                                   .desc = &f->desc,
                                   .form = {.segment_bytes = 1024},
                                   .slots = optimizer_slots(OPTIMIZER_sgd),
                                   .waiter = &f->waiter,
                                   .exec = &f->exec};
    if (sync_create(&f->sync, kind, &options, &e) != OK)
        return false;
    f->optimizer.state = f->sync->arenas.state;
    return true;
}

static bool setup(struct fixture *f, enum strategy_kind kind)
{
    struct error e;
    *f = (struct fixture){.sync = NULL};
    return waiter_open(&f->waiter, WAIT_YIELD, 60, MPI_COMM_WORLD, &e) == OK && open_sync(f, kind);
}

static void teardown(struct fixture *f)
{
    sync_destroy(f->sync);
    waiter_close(&f->waiter);
}

/* first [ranks]: the first rank of each rank's node, by way of the node's own communicator. */
static void ask_library(int *first)
{
    MPI_Comm node;
    int mine = mpi_world_rank();
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mine, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&mine, 1, MPI_INT, first, 1, MPI_INT, MPI_COMM_WORLD);
}

static void nodes_are_those_that_share_memory(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    int ranks = mpi_world_ranks(), *node_of, nodes = 0;
    int *first = calloc((size_t)ranks, sizeof *first);
    assert_all(setup(&f, STRATEGY_allreduce));
    ask_library(first);
    bool good = nodes_find(f.sync, &node_of, &e) == OK;
    for (int r = 0; r < ranks && good; r++) {
        good = first[r] == r ? node_of[r] == nodes : node_of[r] == node_of[first[r]];
        nodes += first[r] == r;
    }
    good = good && nodes == (ranks > 1 ? 2 : 1);
    free(node_of);
    free(first);
    teardown(&f);
    assert_all(good);
}

/* Small integers: exact in any order. */
static real gradient(int rank, int i)
{
    return (real)((i * 7 + rank * 13) % 101 - 50);
}

static bool sums(enum strategy_kind kind)
{
    struct fixture f;
    struct error e;
    bool good = setup(&f, kind);
    for (int i = 0; i < NUMBERS && good; i++)
        f.sync->arenas.grads[i] = gradient(mpi_world_rank(), i);
    sync_step_begin(f.sync);
    good = good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK;
    for (int i = 0; i < NUMBERS && good; i++) {
        real sum = 0;
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += gradient(r, i);
        good = f.sync->arenas.params[i] == -sum;
    }
    teardown(&f);
    return good;
}

static void strategies_sum_over_them(void **state)
{
    (void)state;
    assert_all(sums(STRATEGY_hierarchical));
    assert_all(sums(STRATEGY_leader));
}

int main(int argc, char **argv)
{
    setenv("MPIR_CVAR_NUM_CLIQUES", "2", 1);
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_those_that_share_memory),
        cmocka_unit_test(strategies_sum_over_them),
    };
    int failed = mpi_run_tests(tests);
    MPI_Finalize();
    return failed;
}
