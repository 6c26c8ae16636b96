/* Strategies on real ranks: exact sums at awkward sizes, counters against an independent count at
 * the PMPI boundary, every way of waiting. */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <string.h>

#include "comm/strategy.h"

/* Counted below the library's own interface, as a profiler would. */
static struct {
    uint64_t calls, bytes;
} seen;

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    int width;
    MPI_Type_size(type, &width);
    seen.calls++;
    seen.bytes += (uint64_t)count * (uint64_t)width;
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}

/* A net that is one tensor of n numbers, as a strategy sees it. */
struct fixture {
    struct tensor_desc tensor;
    struct net_desc desc;
    struct exec exec;
    struct waiter waiter;
    struct sync *sync;
    struct optimizer optimizer;
};

static bool setup(struct fixture *f, enum strategy_kind kind, enum wait_kind wait, size_t n)
{
    struct error e;
    memset(f, 0, sizeof *f);
    f->tensor = (struct tensor_desc){.name = "w", .n_dims = 1, .dims = {(int)n}, .count = n};
    f->desc = (struct net_desc){.tensors = &f->tensor, .n_tensors = 1, .n_params = n};
    f->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd, .n = n};
    struct sync_options options = {.comm = MPI_COMM_WORLD,
                                   .desc = &f->desc,
                                   .slots = optimizer_slots(OPTIMIZER_sgd),
                                   .waiter = &f->waiter,
                                   .exec = &f->exec};
    if (waiter_open(&f->waiter, wait, 60, MPI_COMM_WORLD, &e) != OK ||
        sync_create(&f->sync, kind, &options, &e) != OK)
        return false;
    f->optimizer.state = f->sync->arenas.state;
    return true;
}

static void teardown(struct fixture *f)
{
    sync_destroy(f->sync);
    waiter_close(&f->waiter);
}

/* One step of plain SGD at rate 1 from 0: the parameters are minus the summed gradient. */
static bool step(struct fixture *f)
{
    struct error e;
    sync_step_begin(f->sync);
    struct range all = {0, 1};
    return sync_params_needed(f->sync, all, PASS_FORWARD, &e) == OK &&
           sync_grad_ready(f->sync, all, 0, true, &e) == OK &&
           sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
}

/* Integers small enough that every order of summation is exact. */
static real gradient(int rank, size_t i)
{
    return (real)((int)((i * 7 + (size_t)rank * 13) % 101) - 50);
}

static bool sums_exactly(enum wait_kind wait, size_t n)
{
    struct fixture f;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    if (!setup(&f, STRATEGY_allreduce, wait, n))
        return false;
    for (size_t i = 0; i < n; i++)
        f.sync->arenas.grads[i] = gradient(rank, i);
    bool good = step(&f);
    for (size_t i = 0; i < n && good; i++) {
        real sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += gradient(r, i);
        good = f.sync->arenas.params[i] == -sum;
    }
    teardown(&f);
    return good;
}

static void allreduce_sums_integers_exactly(void **state)
{
    (void)state;
    size_t p = (size_t)mpi_world_ranks();
    const size_t sizes[] = {0, 1, p - 1, p, p + 1, 2, 97, 1009, 7850, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_all(sums_exactly(WAIT_BLOCK, sizes[i]));
}

static void every_way_of_waiting_gives_the_same(void **state)
{
    (void)state;
    assert_all(sums_exactly(WAIT_POLL, 1009));
    assert_all(sums_exactly(WAIT_YIELD, 1009));
}

/* |error| <= p eps sum|x|: what any order of adding p numbers keeps. */
static void allreduce_keeps_the_rounding_bound(void **state)
{
    (void)state;
    enum { N = 10007 };
    struct fixture f;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    assert_all(setup(&f, STRATEGY_allreduce, WAIT_BLOCK, N));
    for (int i = 0; i < N; i++)
        f.sync->arenas.grads[i] = (real)sin(i + 10007.0 * rank);
    assert_all(step(&f));
    bool good = true;
    for (int i = 0; i < N; i++) {
        double sum = 0, size = 0;
        for (int r = 0; r < ranks; r++) {
            double x = (real)sin(i + 10007.0 * r);
            sum += x;
            size += fabs(x);
        }
        good = good && fabs(f.sync->arenas.params[i] + sum) <= ranks * REAL_EPSILON * size;
    }
    teardown(&f);
    assert_all(good);
}

static void counters_equal_an_independent_count(void **state)
{
    (void)state;
    struct fixture f;
    enum { N = 1234, STEPS = 3 };
    size_t count = N;
    assert_all(setup(&f, STRATEGY_allreduce, WAIT_BLOCK, N));
    uint64_t calls = f.waiter.calls, bytes = f.waiter.bytes_payload;
    seen.calls = seen.bytes = 0;
    bool good = true;
    for (int i = 0; i < STEPS; i++)
        good = good && step(&f);
    calls = f.waiter.calls - calls;
    bytes = f.waiter.bytes_payload - bytes;
    struct cost cost = strategy_cost(STRATEGY_allreduce, mpi_world_rank(), mpi_world_ranks(),
                                     &count, 1, sizeof(real), NULL);
    good = good && calls == seen.calls && bytes == seen.bytes;
    good = good && calls == STEPS * cost.calls && bytes == STEPS * cost.bytes_payload;
    teardown(&f);
    assert_all(good);
}

static void none_leaves_gradients_alone(void **state)
{
    (void)state;
    struct fixture f;
    int rank = mpi_world_rank();
    assert_all(setup(&f, STRATEGY_none, WAIT_BLOCK, 100));
    uint64_t calls = f.waiter.calls;
    for (size_t i = 0; i < 100; i++)
        f.sync->arenas.grads[i] = gradient(rank, i);
    bool good = step(&f);
    for (size_t i = 0; i < 100; i++)
        good = good && f.sync->arenas.params[i] == -gradient(rank, i);
    good = good && f.waiter.calls == calls;
    teardown(&f);
    assert_all(good);
}

static void broadcast_gives_everyone_rank_0s_weights(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    assert_all(setup(&f, STRATEGY_allreduce, WAIT_BLOCK, 50));
    for (size_t i = 0; i < 50; i++)
        f.sync->arenas.params[i] = (real)(mpi_world_rank() * 1000 + (int)i);
    bool good = sync_broadcast_params(f.sync, &e) == OK;
    for (size_t i = 0; i < 50; i++)
        good = good && f.sync->arenas.params[i] == (real)i;
    teardown(&f);
    assert_all(good);
}

/* The shares of the norm add up to the norm of the summed gradient. */
static void norms_add_up(void **state)
{
    (void)state;
    enum { N = 1001 };
    struct fixture f;
    assert_all(setup(&f, STRATEGY_allreduce, WAIT_BLOCK, N));
    for (size_t i = 0; i < N; i++)
        f.sync->arenas.grads[i] = gradient(mpi_world_rank(), i);
    bool good = step(&f);
    double expected = 0, norm2 = sync_norm2_local(f.sync);
    for (size_t i = 0; i < N; i++)
        expected += (double)f.sync->arenas.grads[i] * (double)f.sync->arenas.grads[i];
    PMPI_Allreduce(MPI_IN_PLACE, &norm2, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    teardown(&f);
    assert_all(good && norm2 == expected);
}

static void gather_and_barrier_work(void **state)
{
    (void)state;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    const enum wait_kind kinds[] = {WAIT_BLOCK, WAIT_YIELD};
    for (int k = 0; k < 2; k++) {
        struct waiter w;
        struct error e;
        int all[64] = {0};
        bool good = waiter_open(&w, kinds[k], 60, MPI_COMM_WORLD, &e) == OK;
        assert_all(good);
        good = wait_gather(&w, &rank, sizeof rank, all, 0, MPI_COMM_WORLD, "test", &e) == OK &&
               wait_barrier(&w, MPI_COMM_WORLD, "test", &e) == OK;
        for (int r = 0; rank == 0 && r < ranks; r++)
            good = good && all[r] == r;
        waiter_close(&w);
        assert_all(good);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allreduce_sums_integers_exactly),
        cmocka_unit_test(every_way_of_waiting_gives_the_same),
        cmocka_unit_test(allreduce_keeps_the_rounding_bound),
        cmocka_unit_test(counters_equal_an_independent_count),
        cmocka_unit_test(none_leaves_gradients_alone),
        cmocka_unit_test(broadcast_gives_everyone_rank_0s_weights),
        cmocka_unit_test(norms_add_up),
        cmocka_unit_test(gather_and_barrier_work),
    };
    int failed = mpi_run_tests(tests);
    MPI_Finalize();
    return failed;
}
