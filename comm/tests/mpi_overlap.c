/* Who asks after messages while a rank computes: sums stay exact, the library is never entered by
 * two threads at once, and what is said to be polled is polled, by the thread that should. */
#include "comm/tests/mpi_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "comm/overlap.h"
#include "kernels/base/clock.h"

/* Tests seen at the library's boundary, and whether two threads were there together. */
static atomic_int tests_by_caller, tests_by_another, inside;
static atomic_bool collided;
static pthread_t caller;

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1) > 0)
        atomic_store(&collided, true);
}

static void leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    enter();
    atomic_fetch_add(pthread_equal(pthread_self(), caller) ? &tests_by_caller : &tests_by_another,
                     1);
    int code = PMPI_Test(request, done, status);
    leave();
    return code;
}

int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    enter();
    int code = PMPI_Iallreduce(send, receive, count, type, op, comm, request);
    leave();
    return code;
}

/* A net of three tensors, a bucket each. */
enum { TENSORS = 3, N = 9000 };

struct fixture {
    struct tensor_desc tensors[TENSORS];
    struct net_desc desc;
    struct exec exec;
    struct waiter waiter;
    struct sync *sync;
    struct overlap *overlap;
    struct optimizer optimizer;
};

static bool open_fixture(struct fixture *f, enum overlap_kind kind)
{
    struct error e;
    *f = (struct fixture){.optimizer = {.kind = OPTIMIZER_sgd, .n = N}};
    for (int i = 0; i < TENSORS; i++)
        f->tensors[i] = (struct tensor_desc){.name = "w",
                                             .n_dims = 1,
                                             .dims = {N / TENSORS},
                                             .count = N / TENSORS,
                                             .offset = (size_t)i * (N / TENSORS)};
    f->desc = (struct net_desc){.tensors = f->tensors, .n_tensors = TENSORS, .n_params = N};
    const struct sync_options options = {.comm = MPI_COMM_WORLD,
                                         .desc = &f->desc,
                                         .form = {.cap_bytes = 1, .first_cap_bytes = 1},
                                         .slots = optimizer_slots(OPTIMIZER_sgd),
                                         .waiter = &f->waiter,
                                         .exec = &f->exec};
    struct overlap_options overlap = {.kind = kind, .yields = true};
    if (waiter_open(&f->waiter, WAIT_YIELD, 60, MPI_COMM_WORLD, &e) != OK ||
        sync_create(&f->sync, STRATEGY_bucketed, &options, &e) != OK)
        return false;
    overlap.sync = f->sync;
    f->optimizer.state = f->sync->arenas.state;
    atomic_store(&tests_by_caller, 0);
    atomic_store(&tests_by_another, 0);
    return overlap_open(&f->overlap, &overlap, &e) == OK;
}

static void close_fixture(struct fixture *f)
{
    overlap_close(f->overlap);
    sync_destroy(f->sync);
    waiter_close(&f->waiter);
}

static real gradient(int rank, size_t i)
{
    return (real)((int)((i * 7 + (size_t)rank * 13) % 101) - 50);
}

/* Computing of a kind: writes a tensor's gradients, with a tile after each of a hundred. */
static void compute_tensor(struct fixture *f, int tensor)
{
    size_t begin = f->tensors[tensor].offset, n = f->tensors[tensor].count;
    for (size_t i = 0; i < n; i++) {
        f->sync->arenas.grads[begin + i] = gradient(mpi_world_rank(), begin + i);
        if (i % 100 == 0 && overlap_wants_tiles(f->overlap))
            overlap_tile(f->overlap);
    }
}

/* Until `enough`, which other ranks or threads bring about. */
static void compute_until(struct fixture *f, bool (*enough)(struct fixture *f))
{
    while (!enough(f)) {
        overlap_compute_begin(f->overlap);
        if (overlap_wants_tiles(f->overlap))
            overlap_tile(f->overlap);
        sched_yield();
        overlap_compute_end(f->overlap);
    }
}

static bool step(struct fixture *f, bool (*enough)(struct fixture *f))
{
    struct error e;
    bool good = true;
    overlap_step_begin(f->overlap);
    sync_step_begin(f->sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        overlap_compute_begin(f->overlap);
        compute_tensor(f, i);
        overlap_compute_end(f->overlap);
        good = good && sync_grad_ready(f->sync, (struct range){i, i + 1}, 0, true, &e) == OK;
    }
    if (enough != NULL)
        compute_until(f, enough);
    good = good && sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
    overlap_step_end(f->overlap);
    return good;
}

/* Plain SGD at rate 1: the parameters are minus the sums, as often as there were steps. */
static bool is_exact(const struct fixture *f, int steps)
{
    bool good = true;
    for (size_t i = 0; i < N && good; i++) {
        real sum = 0;
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += gradient(r, i);
        good = f->sync->arenas.params[i] == (real)steps * -sum;
    }
    return good;
}

static void sums_are_exact_and_threads_apart(void **state)
{
    (void)state;
    enum { STEPS = 5 };
    for (int kind = 0; kind < OVERLAPS; kind++) {
        struct fixture f;
        bool good = open_fixture(&f, (enum overlap_kind)kind);
        assert_all(good);
        for (int i = 0; i < STEPS; i++)
            good = step(&f, NULL) && good;
        good = good && is_exact(&f, STEPS) && !atomic_load(&collided);
        close_fixture(&f);
        assert_all(good);
    }
}

/* After it was asked for once. */
static bool nothing_is_left(struct fixture *f)
{
    return f->sync->times.poll_ns > 0 && !f->sync->strategy->poll(f->sync);
}

/* All that is on its way arrives while the ranks compute: the end finds nothing to wait for. Time
 * for it is part of what communication took. */
static void polling_completes_what_is_on_its_way(void **state)
{
    (void)state;
    const enum overlap_kind kinds[] = {OVERLAP_poll_layers, OVERLAP_poll_tiles};
    for (int k = 0; k < 2; k++) {
        struct fixture f;
        bool good = open_fixture(&f, kinds[k]) && step(&f, nothing_is_left);
        const struct sync_times *t = &f.sync->times;
        good = good && is_exact(&f, 1) && atomic_load(&tests_by_caller) > 0;
        good = good && t->poll_ns > 0 && t->poll_ns <= t->comm_exposed_ns &&
               t->comm_exposed_ns <= t->comm_total_ns;
        close_fixture(&f);
        assert_all(good);
    }
}

static bool another_tested(struct fixture *f)
{
    (void)f;
    return atomic_load(&tests_by_another) > 0;
}

/* The thread's time is none of the computing thread's. */
static void the_thread_polls_and_the_caller_does_not(void **state)
{
    (void)state;
    struct fixture f;
    bool good = open_fixture(&f, OVERLAP_thread);
    int64_t polled_ns = f.waiter.poll_ns;
    good = good && step(&f, another_tested) && is_exact(&f, 1);
    good = good && f.sync->times.poll_ns == 0 && f.waiter.poll_ns > polled_ns;
    close_fixture(&f);
    assert_all(good);
}

static void none_asks_nobody(void **state)
{
    (void)state;
    struct fixture f;
    bool good = open_fixture(&f, OVERLAP_none);
    struct error e;
    sync_step_begin(f.sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        overlap_compute_begin(f.overlap);
        compute_tensor(&f, i);
        overlap_compute_end(f.overlap);
        good = good && sync_grad_ready(f.sync, (struct range){i, i + 1}, 0, true, &e) == OK;
    }
    good = good && atomic_load(&tests_by_caller) + atomic_load(&tests_by_another) == 0;
    good = good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK && is_exact(&f, 1);
    close_fixture(&f);
    assert_all(good);
}

/* However often kernels come by: a first time, and then once in OVERLAP_TILE_NS at most. */
static void tiles_are_polled_at_their_rate(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    bool good = open_fixture(&f, OVERLAP_poll_tiles);
    sync_step_begin(f.sync);
    /* Rank 0 alone keeps its tensors back, so that the others' first bucket stays on its way. */
    bool waits = mpi_world_rank() > 0 || mpi_world_ranks() == 1;
    if (waits)
        good = good &&
               sync_grad_ready(f.sync, (struct range){TENSORS - 1, TENSORS}, 0, true, &e) == OK;
    int before = atomic_load(&tests_by_caller);
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < 100000; i++)
        overlap_tile(f.overlap);
    int64_t most = (clock_ns() - begin_ns) / OVERLAP_TILE_NS + 1;
    int seen = atomic_load(&tests_by_caller) - before;
    good = good && seen <= most && (waits ? seen > 0 : seen == 0);
    mpi_all(true);
    for (int i = waits ? TENSORS - 2 : TENSORS - 1; i >= 0; i--)
        good = good && sync_grad_ready(f.sync, (struct range){i, i + 1}, 0, true, &e) == OK;
    good = good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK;
    close_fixture(&f);
    assert_all(good);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    caller = pthread_self();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_and_threads_apart),
        cmocka_unit_test(polling_completes_what_is_on_its_way),
        cmocka_unit_test(the_thread_polls_and_the_caller_does_not),
        cmocka_unit_test(none_asks_nobody),
        cmocka_unit_test(tiles_are_polled_at_their_rate),
    };
    int failed = mpi_run_tests(tests);
    MPI_Finalize();
    return failed;
}
