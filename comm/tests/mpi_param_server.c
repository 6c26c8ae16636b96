/* Variants of the parameter server, with one and several servers: computed weights, distance
 * between ranks, content of checkpoints.
 * ranks: 1 2 3 4
 * cores: all
 * double: 3 */
#include "comm/tests/linear_model.h"

#include <stdatomic.h>

#include "kernels/base/clock.h"
#include "kernels/gemm.h"

/* Number of steps that each rank has begun to push, in shared memory. */
static struct {
    MPI_Win window;
    _Atomic int *pushed; /* [ranks] */
} board;

static bool open_board(void)
{
    void *mine, *first;
    MPI_Aint size;
    int unit, ranks = mpi_world_ranks();
    MPI_Win_allocate_shared(mpi_world_rank() == 0 ? (MPI_Aint)sizeof(int) * ranks : 0, sizeof(int),
                            MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &board.window);
    MPI_Win_shared_query(board.window, 0, &size, &unit, &first);
    board.pushed = first;
    atomic_store(&board.pushed[mpi_world_rank()], 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return true;
}

static void close_board(void)
{
    MPI_Win_free(&board.window);
}

static int least_pushed(void)
{
    int least = atomic_load(&board.pushed[0]);
    for (int r = 1; r < mpi_world_ranks(); r++)
        least = atomic_load(&board.pushed[r]) < least ? atomic_load(&board.pushed[r]) : least;
    return least;
}

/* Returns whether all other ranks have pushed this many steps; the last may be in progress. */
static bool others_have_pushed(int steps)
{
    bool there = true;
    for (int r = 0; r < mpi_world_ranks(); r++)
        there = there && (r == mpi_world_rank() || atomic_load(&board.pushed[r]) == steps);
    return there;
}

/* Loads the servers' model on all ranks, until the end of `f`. */
static bool take_model(struct fixture *f)
{
    struct error e;
    return sync_eval_begin(f->sync, &e) == OK;
}

static void sum_reference(double *w, double momentum, int steps)
{
    double velocity[N] = {0};
    for (int t = 0; t < steps; t++) {
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (int r = 0; r < mpi_world_ranks(); r++)
                sum += gradient_at(r, i, w[i]) / mpi_world_ranks();
            velocity[i] = momentum * velocity[i] + sum;
            w[i] -= LR * velocity[i];
        }
    }
}

/* Covers sync, and stale with bound 0, on one server, two, and as many as ranks. */
static void synchronous_variants_equal_a_sum(void **state)
{
    struct fixture f;
    double expected[N] = {0};
    const enum strategy_variant variants[] = {VARIANT_param_server_sync,
                                              VARIANT_param_server_stale};
    const int servers[] = {1, 2, mpi_world_ranks()};
    sum_reference(expected, 0.5, STEPS);
    setup(&f);
    for (int k = 0; k < 6; k++) {
        f.config.variant = variants[k / 3];
        f.config.options[SYNC_servers] = servers[k % 3];
        if (f.config.options[SYNC_servers] > mpi_world_ranks())
            continue;
        assert_all(open_with(&f, STRATEGY_param_server, 0.5));
        bool good = true;
        for (int t = 0; t < STEPS; t++)
            good = step(&f, 1.0 / mpi_world_ranks()) && good;
        good = take_model(&f) && good;
        good = fixture_is_equal_everywhere(&f) && params_are_near(&f, expected) && good;
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* Runs a step and checks that no rank begins it more than `bound` steps ahead. */
static bool counted_step(struct fixture *f, int bound)
{
    int rank = mpi_world_rank();
    bool good = atomic_load(&board.pushed[rank]) - least_pushed() <= bound;
    atomic_fetch_add(&board.pushed[rank], 1);
    return step(f, 1.0 / mpi_world_ranks()) && good;
}

/* Delays the last rank, which is no server, until the others have reached their bound, and a
 * moment longer to see that they stay there. */
static bool hold_back(int steps, bool stay)
{
    while (!others_have_pushed(steps))
        sched_yield();
    usleep(stay ? 50000 : 0);
    return others_have_pushed(steps);
}

static void no_rank_exceeds_the_bound(void **state)
{
    enum { BOUND = 3 };
    struct fixture f;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    setup(&f);
    assert_all(open_board());
    f.config.variant = VARIANT_param_server_stale;
    f.config.options[SYNC_staleness] = BOUND;
    assert_all(open_with(&f, STRATEGY_param_server, 0.5));
    bool good = true;
    for (int t = 0; t < STEPS; t++) {
        if (rank == ranks - 1 && ranks > 1 && t + BOUND < STEPS)
            good = hold_back(t + BOUND + 1, t < 2) && good;
        good = counted_step(&f, BOUND) && good;
    }
    good = take_model(&f) && fixture_is_equal_everywhere(&f) && good;
    sync_destroy(f.sync);
    close_board();
    assert_all(good);
}

/* With several servers, one of them the slow rank, all ranks still finish. */
static void slow_servers_keep_the_bound(void **state)
{
    enum { BOUND = 2 };
    struct fixture f;
    setup(&f);
    assert_all(open_board());
    f.config.variant = VARIANT_param_server_stale;
    f.config.options[SYNC_staleness] = BOUND;
    f.config.options[SYNC_servers] = mpi_world_ranks();
    assert_all(open_with(&f, STRATEGY_param_server, 0.5));
    bool good = true;
    for (int t = 0; t < STEPS; t++) {
        usleep(mpi_world_rank() == 0 ? 3000 : 0);
        good = counted_step(&f, BOUND) && good;
    }
    good = take_model(&f) && fixture_is_equal_everywhere(&f) && good;
    sync_destroy(f.sync);
    close_board();
    assert_all(good);
}

/* Runs a step whose gradient does not depend on the weights: integers, exact in every order. */
static bool blind_step(struct fixture *f)
{
    struct error e;
    sync_step_begin(f->sync);
    for (size_t i = 0; i < N; i++)
        f->sync->arenas.grads[i] = (real)gradient_at(f->sync->rank, i, 0);
    f->step++;
    return sync_step_end(f->sync, &f->optimizer, f->step, LR, &e) == OK;
}

/* The last rank begins after all others have ended. In async no rank waits for it, and every
 * gradient is applied once. */
static void async_waits_for_nobody(void **state)
{
    struct fixture f;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    setup(&f);
    assert_all(open_board());
    f.config.variant = VARIANT_param_server_async;
    f.config.options[SYNC_servers] = ranks > 2 ? 2 : 1;
    assert_all(open_with(&f, STRATEGY_param_server, 0));
    bool good = true;
    if (rank == ranks - 1 && ranks > 1)
        good = hold_back(STEPS, false);
    for (int t = 0; t < STEPS; t++) {
        atomic_fetch_add(&board.pushed[rank], 1);
        good = blind_step(&f) && good;
    }
    good = take_model(&f) && fixture_is_equal_everywhere(&f) && good;
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += gradient_at(r, i, 0);
        good = good && (double)f.sync->arenas.params[i] == -LR * STEPS * sum;
    }
    sync_destroy(f.sync);
    close_board();
    assert_all(good);
}

enum { UPDATE_US = 2000 };
static int updates;

static void sleep_before_update(void *arg)
{
    (void)arg;
    updates++;
    usleep(UPDATE_US);
}

/* Polls on rank 0 until its server has applied two gradients of each other rank. */
static bool poll_through_updates(struct fixture *f)
{
    struct error e;
    const struct sync_times *t = &f->sync->times;
    int all = 1 + 2 * (mpi_world_ranks() - 1);
    sync_step_begin(f->sync);
    int64_t begin_ns = clock_ns();
    int before = updates;
    atomic_store(&board.pushed[0], 1);
    while (updates < all)
        sync_poll(f->sync);
    int64_t left_ns = clock_ns() - begin_ns - (updates - before) * (int64_t)UPDATE_US * 1000;
    bool good = t->poll_ns <= left_ns && t->poll_ns == t->comm_exposed_ns;
    good = good && (updates > before) == (t->optimizer_ns > 0);
    return sync_step_end(f->sync, &f->optimizer, ++f->step, LR, &e) == OK && good;
}

/* An optimizer step within a poll counts as optimizer time, not as polling; work before it is
 * counted separately. */
static void an_update_within_a_poll_counts_as_optimizer(void **state)
{
    struct fixture f;
    setup(&f);
    assert_all(open_board());
    f.config.variant = VARIANT_param_server_async;
    assert_all(open_with(&f, STRATEGY_param_server, 0));
    updates = 0;
    f.sync->before_update = sleep_before_update;
    bool good = blind_step(&f);
    if (mpi_world_rank() == 0)
        good = poll_through_updates(&f) && good;
    while (mpi_world_rank() > 0 && atomic_load(&board.pushed[0]) == 0)
        sched_yield();
    good = (mpi_world_rank() == 0 || blind_step(&f)) && good;
    sync_destroy(f.sync);
    close_board();
    assert_all(good);
}

/* After ten seconds of independent steps, ranks may reach a barrier later than the deadline of a
 * wait. */
static void async_ranks_may_reach_barriers_late(void **state)
{
    struct fixture f;
    int rank = mpi_world_rank();
    setup(&f);
    f.config.variant = VARIANT_param_server_async;
    assert_all(open_with(&f, STRATEGY_param_server, 0));
    const double deadline_s = f.waiter->deadline_s;
    bool good = blind_step(&f);
    f.waiter->alone_since_ns -= 10000000000;
    f.waiter->deadline_s = 2;
    usleep(rank > 0 && rank == mpi_world_ranks() - 1 ? 2500000 : 0);
    good = take_model(&f) && good;
    f.waiter->deadline_s = deadline_s;
    good = clock_ns() - f.waiter->alone_since_ns < 10000000000 && good;
    sync_destroy(f.sync);
    assert_all(good && f.waiter->alone_since_ns == 0);
}

/* The sum is clipped by its norm. In async each gradient is clipped, so their norms add up to
 * more. */
static void servers_clip_sums_and_async_ranks_gradients(void **state)
{
    const enum strategy_variant variants[] = {VARIANT_param_server_sync, VARIANT_param_server_stale,
                                              VARIANT_param_server_async};
    struct fixture f;
    setup(&f);
    for (int k = 0; k < 3; k++) {
        f.config.variant = variants[k];
        assert_all(open_with(&f, STRATEGY_param_server, 0));
        f.optimizer.clip_norm = 3;
        bool good = blind_step(&f), async = k == 2;
        good = take_model(&f) && good;
        double squares = 0, expected[N] = {0}, wanted = 0;
        for (int r = 0; r < mpi_world_ranks(); r++) {
            double own = 0;
            for (size_t i = 0; i < N; i++)
                own += pow(gradient_at(r, i, 0), 2);
            for (size_t i = 0; i < N; i++)
                expected[i] += gradient_at(r, i, 0) * (async ? 3 / sqrt(own) : 1);
        }
        for (size_t i = 0; i < N; i++) {
            squares += pow((double)f.sync->arenas.params[i], 2);
            wanted += expected[i] * expected[i];
        }
        wanted = LR * (async ? sqrt(wanted) : 3);
        good = good && is_near(sqrt(squares), wanted, wanted);
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* After a save, every rank holds the parts of all servers. Training resumes from it, also in
 * another strategy object. */
static void a_checkpoint_finds_the_servers_state(void **state)
{
    struct fixture f;
    struct error e;
    const void *data;
    size_t bytes;
    int ranks = mpi_world_ranks();
    setup(&f);
    f.config.variant = VARIANT_param_server_stale;
    f.config.options[SYNC_staleness] = 2;
    f.config.options[SYNC_servers] = ranks;
    assert_all(open_with(&f, STRATEGY_param_server, 0.5));
    bool good = true;
    for (int t = 0; t < 4; t++)
        good = blind_step(&f) && good;
    good = sync_save(f.sync, &data, &bytes, &e) == OK && bytes == 0 && good;
    real params[N], velocity[N];
    memcpy(params, f.sync->arenas.params, sizeof params);
    memcpy(velocity, f.sync->arenas.state, sizeof velocity);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += gradient_at(r, i, 0);
        good = good && (double)velocity[i] == 1.875 * sum; /* 1 + 1/2 + 1/4 + 1/8 */
    }
    good = blind_step(&f) && take_model(&f) && good;
    real went_on[N];
    memcpy(went_on, f.sync->arenas.params, sizeof went_on);
    sync_destroy(f.sync);
    assert_all(good && open_with(&f, STRATEGY_param_server, 0.5));
    memcpy(f.sync->arenas.params, params, sizeof params);
    memcpy(f.sync->arenas.state, velocity, sizeof velocity);
    good = sync_restore(f.sync, NULL, 0, &e) == OK && blind_step(&f) && take_model(&f);
    good = good && memcmp(went_on, f.sync->arenas.params, sizeof went_on) == 0;
    sync_destroy(f.sync);
    assert_all(good);
}

static void unsupported_server_settings_are_refused(void **state)
{
    struct fixture f;
    struct error e = {.status = OK};
    setup(&f);
    f.config.variant = VARIANT_param_server_sync;
    f.config.options[SYNC_servers] = mpi_world_ranks() + 1;
    bool good = fixture_create(&f, STRATEGY_param_server, &e) == ERR_ARGUMENT &&
                strstr(e.text, "each server is a rank") != NULL;
    assert_all(good);
    if (mpi_world_ranks() > 1) {
        f.config.options[SYNC_servers] = 2;
        assert_all(open_with(&f, STRATEGY_param_server, 0));
        f.optimizer.clip_norm = 1;
        sync_step_begin(f.sync);
        good = sync_step_end(f.sync, &f.optimizer, 1, LR, &e) == ERR_ARGUMENT &&
               strstr(e.text, "train.clip_norm") != NULL;
        sync_destroy(f.sync);
    }
    assert_all(good);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synchronous_variants_equal_a_sum),
        cmocka_unit_test(no_rank_exceeds_the_bound),
        cmocka_unit_test(slow_servers_keep_the_bound),
        cmocka_unit_test(async_waits_for_nobody),
        cmocka_unit_test(an_update_within_a_poll_counts_as_optimizer),
        cmocka_unit_test(async_ranks_may_reach_barriers_late),
        cmocka_unit_test(servers_clip_sums_and_async_ranks_gradients),
        cmocka_unit_test(a_checkpoint_finds_the_servers_state),
        cmocka_unit_test(unsupported_server_settings_are_refused),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
