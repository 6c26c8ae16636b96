/* Overlap of messages and computation: sums stay exact, two threads never call MPI at once, and the
 * configured overlap polls, on the right thread.
 * cores: all
 * double: 2 3 */
#include "comm/tests/mpi_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "comm/overlap.h"
#include "comm/tests/sync_fixture.h"
#include "kernels/base/clock.h"

/* Calls of MPI_Test by thread, and whether two threads called MPI at once. */
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

/* Three tensors, one bucket each. */
enum { TENSORS = 3, N = 9000 };

static struct overlap *overlap;

/* With the polling thread, the caller yields to it however many cores there are. */
static int open_yielding_waiter(void **state)
{
    struct error e;
    return waiter_open(&program_waiter, WAIT_YIELD, 60, MPI_COMM_WORLD, &e) == OK ? 0 : -1;
}

static bool open_fixture(struct fixture *f, enum overlap_kind kind)
{
    struct error e;
    fixture_init(f);
    f->config.options[SYNC_cap_mib] = f->config.options[SYNC_first_cap_mib] = 1 / 0x1p20;
    fixture_no_tensors(f);
    for (int i = 0; i < TENSORS; i++)
        fixture_add_tensor(f, N / TENSORS, 0);
    if (!fixture_open(f, STRATEGY_bucketed))
        return false;
    atomic_store(&tests_by_caller, 0);
    atomic_store(&tests_by_another, 0);
    const struct overlap_options options = {.kind = kind, .yields = true, .sync = f->sync};
    return overlap_open(&overlap, &options, &e) == OK;
}

static void close_fixture(struct fixture *f)
{
    overlap_close(overlap);
    sync_destroy(f->sync);
}

/* Simulates computation: writes a tensor's gradients, with a tile after each hundredth. */
static void compute_tensor(struct fixture *f, int tensor)
{
    size_t begin = f->tensors[tensor].offset, n = f->tensors[tensor].count;
    for (size_t i = 0; i < n; i++) {
        f->sync->arenas.grads[begin + i] = whole_gradient(mpi_world_rank(), begin + i);
        if (i % 100 == 0 && overlap_wants_tiles(overlap))
            overlap_tile(overlap);
    }
}

static void compute_until(struct fixture *f, bool (*enough)(struct fixture *f))
{
    while (!enough(f)) {
        overlap_compute_begin(overlap);
        if (overlap_wants_tiles(overlap))
            overlap_tile(overlap);
        sched_yield();
        overlap_compute_end(overlap);
    }
}

static bool step(struct fixture *f, bool (*enough)(struct fixture *f))
{
    struct error e;
    bool good = true;
    overlap_step_begin(overlap);
    sync_step_begin(f->sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        overlap_compute_begin(overlap);
        compute_tensor(f, i);
        overlap_compute_end(overlap);
        good = good && sync_grad_ready(f->sync, (struct range){i, i + 1}, 0, true, &e) == OK;
    }
    if (enough != NULL)
        compute_until(f, enough);
    good = good && sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
    overlap_step_end(overlap);
    return good;
}

static void sums_are_exact_and_threads_take_turns(void **state)
{
    enum { STEPS = 5 };
    for (int kind = 0; kind < OVERLAPS; kind++) {
        struct fixture f;
        bool good = open_fixture(&f, (enum overlap_kind)kind);
        assert_all(good);
        for (int i = 0; i < STEPS; i++)
            good = step(&f, NULL) && good;
        good = good && fixture_has_summed(&f, STEPS) && !atomic_load(&collided);
        close_fixture(&f);
        assert_all(good);
    }
}

static bool nothing_is_left(struct fixture *f)
{
    return f->sync->times.poll_ns > 0 && !f->sync->strategy->poll(f->sync);
}

/* All messages arrive while the ranks compute, so the end does not wait. The time of polling
 * counts as communication. */
static void polling_completes_messages_in_transit(void **state)
{
    const enum overlap_kind kinds[] = {OVERLAP_poll_layers, OVERLAP_poll_tiles};
    for (int k = 0; k < 2; k++) {
        struct fixture f;
        bool good = open_fixture(&f, kinds[k]) && step(&f, nothing_is_left);
        const struct sync_times *t = &f.sync->times;
        good = good && fixture_has_summed(&f, 1) && atomic_load(&tests_by_caller) > 0;
        good = good && t->poll_ns > 0 && t->poll_ns <= t->comm_exposed_ns &&
               t->comm_exposed_ns <= t->comm_total_ns;
        close_fixture(&f);
        assert_all(good);
    }
}

static bool another_tested(struct fixture *f)
{
    return atomic_load(&tests_by_another) > 0;
}

/* The thread's time does not count as the computing thread's. */
static void the_thread_polls_and_the_caller_does_not(void **state)
{
    struct fixture f;
    bool good = open_fixture(&f, OVERLAP_thread);
    int64_t polled_ns = f.waiter->poll_ns;
    good = good && step(&f, another_tested) && fixture_has_summed(&f, 1);
    good = good && f.sync->times.poll_ns == 0 && f.waiter->poll_ns > polled_ns;
    close_fixture(&f);
    assert_all(good);
}

static void overlap_none_never_tests(void **state)
{
    struct fixture f;
    bool good = open_fixture(&f, OVERLAP_none);
    struct error e;
    sync_step_begin(f.sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        overlap_compute_begin(overlap);
        compute_tensor(&f, i);
        overlap_compute_end(overlap);
        good = good && sync_grad_ready(f.sync, (struct range){i, i + 1}, 0, true, &e) == OK;
    }
    good = good && atomic_load(&tests_by_caller) + atomic_load(&tests_by_another) == 0;
    good =
        good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK && fixture_has_summed(&f, 1);
    close_fixture(&f);
    assert_all(good);
}

/* Tiles call often; MPI is tested a first time, then at most once per OVERLAP_TILE_NS. */
static void tiles_are_polled_at_their_rate(void **state)
{
    struct fixture f;
    struct error e;
    bool good = open_fixture(&f, OVERLAP_poll_tiles);
    sync_step_begin(f.sync);
    /* Only rank 0 delays its tensors, so that the other ranks' first bucket stays in transit. */
    bool waits = mpi_world_rank() > 0 || mpi_world_ranks() == 1;
    if (waits)
        good = good &&
               sync_grad_ready(f.sync, (struct range){TENSORS - 1, TENSORS}, 0, true, &e) == OK;
    int before = atomic_load(&tests_by_caller);
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < 100000; i++)
        overlap_tile(overlap);
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
        cmocka_unit_test(sums_are_exact_and_threads_take_turns),
        cmocka_unit_test(polling_completes_messages_in_transit),
        cmocka_unit_test(the_thread_polls_and_the_caller_does_not),
        cmocka_unit_test(overlap_none_never_tests),
        cmocka_unit_test(tiles_are_polled_at_their_rate),
    };
    int failed = mpi_run_group(tests, open_yielding_waiter, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
