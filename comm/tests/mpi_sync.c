/* Results of strategies on real ranks: exact sums at awkward sizes, under every wait policy,
 * rounding bounds, equal bits on all ranks, clipped norms.
 *
 * If there are more ranks than cores, a rank that spins in MPI keeps others from running, so ranks
 * yield then.
 *
 * double: 2 3 */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/tests/exact_configs.h"
#include "kernels/gemm.h"

static const struct exact_config oracle = {STRATEGY_allreduce, VARIANT_usual};

static void every_config_sums_integers_exactly(void **state)
{
    size_t p = (size_t)mpi_world_ranks();
    /* With the last size, each of 7 ranks' parts has several segments, the last one short. */
    const size_t sizes[] = {0, 1, p - 1, p, p + 1, 97, 1009, 7850, 250007};
    size_t n = sizeof sizes / sizeof *sizes;
    const size_t large = 100000; /* larger messages, since small ones would be many thousands */
    struct fixture f;
    setup(&f);
    for (int config = 0; config < n_configs; config++) {
        for (size_t i = 0; i < n; i++) {
            f.config.options[SYNC_segment] = sizes[i] < large ? SEGMENT_BYTES : 64 * SEGMENT_BYTES;
            bool good = open_config(&f, configs[config], sizes[i]) && sums_exactly(&f);
            assert_all(good);
            sync_destroy(f.sync);
        }
    }
}

static void every_wait_policy_sums_exactly(void **state)
{
    const enum wait_kind kinds[] = {WAIT_BLOCK, WAIT_POLL, WAIT_YIELD};
    for (int k = 0; k < 3; k++) {
        struct fixture f;
        struct waiter w;
        struct error e;
        setup(&f);
        f.waiter = &w;
        assert_all(waiter_open(&w, kinds[k], 60, MPI_COMM_WORLD, &e) == OK);
        for (int config = 0; config < n_configs; config++) {
            if (mpi_is_crowded() && config > 0 && kinds[k] != WAIT_YIELD)
                continue;
            bool good = open_config(&f, configs[config], 1009) && sums_exactly(&f);
            assert_all(good);
            sync_destroy(f.sync);
        }
        waiter_close(&w);
    }
}

/* |error| <= p eps sum|x|, for any order of adding p numbers. */
static bool keeps_the_bound(const struct fixture *f, int n)
{
    const real *params = fixture_params(f);
    int ranks = mpi_world_ranks();
    bool good = params != NULL;
    for (int i = 0; i < n && good; i++) {
        double sum = 0, size = 0;
        for (int r = 0; r < ranks; r++) {
            double x = (real)sin(i + 10007.0 * r);
            sum += x;
            size += fabs(x);
        }
        good = fabs(params[i] + sum) <= ranks * REAL_EPSILON * size;
    }
    return good;
}

/* Exposed time must lie within total time and exclude packing. */
static bool accounts_for_its_time(const struct fixture *f, struct exact_config config)
{
    const struct sync_times *t = &f->sync->times;
    bool packs = config.variant == VARIANT_reduce_bcast_pickled;
    if (t->arrive_ns == 0)
        return sync_cost(f->sync).calls == 0 && t->comm_total_ns == 0;
    return t->arrive_ns > 0 && t->comm_exposed_ns > 0 && t->comm_exposed_ns <= t->comm_total_ns &&
           (!packs || t->pack_ns > 0);
}

static void every_config_keeps_bound_bits_and_time(void **state)
{
    enum { N = 10007 };
    struct fixture f;
    setup(&f);
    for (int config = 0; config < n_configs; config++) {
        assert_all(open_config(&f, configs[config], N));
        for (int i = 0; i < N; i++)
            fixture_grads(&f)[i] = (real)sin(i + 10007.0 * mpi_world_rank());
        bool good = fixture_step(&f, 1);
        good = accounts_for_its_time(&f, configs[config]) && good;
        good = keeps_the_bound(&f, N) && good;
        good = fixture_is_equal_everywhere(&f) && good;
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* Checks the bits of sums in the order of ranks, as parameters after the first step. */
static bool sums_in_order(const struct fixture *f, int n)
{
    const real *params = fixture_params(f);
    bool good = params != NULL;
    for (int i = 0; i < n && good; i++) {
        real sum = (real)sin(i);
        for (int r = 1; r < mpi_world_ranks(); r++)
            sum += (real)sin(i + 10007.0 * r);
        good = params[i] == -sum;
    }
    return good;
}

static void fixed_order_gives_the_same_bits(void **state)
{
    enum { N = 5003 };
    const struct exact_config same[] = {{STRATEGY_fixed_order, VARIANT_usual},
                                        {STRATEGY_shm, VARIANT_usual},
                                        {STRATEGY_shm_zero1, VARIANT_usual},
                                        {STRATEGY_zero2, VARIANT_usual},
                                        {STRATEGY_zero3, VARIANT_usual},
                                        {STRATEGY_shm_zero2, VARIANT_usual},
                                        {STRATEGY_shm_zero3, VARIANT_usual},
                                        {STRATEGY_gather_scatter, VARIANT_gather_scatter_linear}};
    const size_t segments[] = {SEGMENT_BYTES, 4000, 1000000}, n_same = sizeof same / sizeof *same;
    struct fixture f;
    setup(&f);
    for (size_t k = 0; k < 3 * n_same; k++) {
        f.config.options[SYNC_segment] = (double)segments[k / n_same];
        assert_all(open_config(&f, same[k % n_same], N));
        for (int i = 0; i < N; i++)
            fixture_grads(&f)[i] = (real)sin(i + 10007.0 * mpi_world_rank());
        bool good = fixture_step(&f, 1) && sums_in_order(&f, N);
        sync_destroy(f.sync);
        assert_all(good);
    }
}

static void none_leaves_gradients_alone(void **state)
{
    struct fixture f;
    int rank = mpi_world_rank();
    setup(&f);
    assert_all(open_config(&f, (struct exact_config){STRATEGY_none, VARIANT_usual}, 100));
    uint64_t calls = f.waiter->calls;
    fixture_fill(&f);
    bool good = fixture_step(&f, 1);
    for (size_t i = 0; i < 100; i++)
        good = good && f.sync->arenas.params[i] == -whole_gradient(rank, i);
    good = good && f.waiter->calls == calls;
    sync_destroy(f.sync);
    assert_all(good);
}

static void broadcast_gives_everyone_rank_0s_weights(void **state)
{
    struct fixture f;
    struct error e;
    setup(&f);
    assert_all(open_config(&f, oracle, 50));
    for (size_t i = 0; i < 50; i++)
        f.sync->arenas.params[i] = (real)(mpi_world_rank() * 1000 + (int)i);
    bool good = sync_broadcast_params(f.sync, &e) == OK;
    for (size_t i = 0; i < 50; i++)
        good = good && f.sync->arenas.params[i] == (real)i;
    sync_destroy(f.sync);
    assert_all(good);
}

/* The shares of the norm must add up to the norm of the summed gradient. */
static void norms_add_up(void **state)
{
    enum { N = 1001 };
    struct fixture f;
    setup(&f);
    assert_all(open_config(&f, oracle, N));
    fixture_fill(&f);
    bool good = fixture_step(&f, 1);
    double expected = 0, norm2 = sync_norm2_local(f.sync);
    for (size_t i = 0; i < N; i++)
        expected += (double)f.sync->arenas.grads[i] * (double)f.sync->arenas.grads[i];
    mpi_sum(&norm2, 1);
    sync_destroy(f.sync);
    assert_all(good && norm2 == expected);
}

/* After plain SGD at rate 1 from 0, the norm of the weights is the clipped gradient's. Rounding:
 * 2 epsilons for the factor and each product, N / 2 for this test's own sum of squares. */
static bool clips_to(struct fixture *f, struct exact_config config, double limit, double norm)
{
    enum { N = 1001 };
    int rank = mpi_world_rank();
    if (!open_config(f, config, N))
        return false;
    f->optimizer.clip_norm = limit;
    fixture_fill(f);
    bool good = fixture_step(f, 1);
    const real *params = fixture_params(f);
    double squares = 0, scale = fmin(1, limit / norm);
    for (size_t i = 0; i < N && params != NULL; i++) {
        double p = (double)params[i], own = (double)whole_gradient(rank, i);
        squares += p * p;
        if (config.strategy == STRATEGY_none)
            good = good && fabs(p + scale * own) <= 2 * REAL_EPSILON * fabs(own);
    }
    double expected = fmin(limit, norm);
    sync_destroy(f->sync);
    return good && fabs(sqrt(squares) - expected) <= (4 * REAL_EPSILON + N * 0x1p-53) * expected;
}

static void gradients_are_clipped_by_their_global_norm(void **state)
{
    double own = 0, all = 0;
    for (size_t i = 0; i < 1001; i++) {
        double sum = 0, mine = (double)whole_gradient(mpi_world_rank(), i);
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += (double)whole_gradient(r, i);
        own += mine * mine;
        all += sum * sum;
    }
    struct fixture f;
    setup(&f);
    for (int i = 0; i < n_configs; i++) {
        assert_all(clips_to(&f, configs[i], 10, sqrt(all)));
        assert_all(clips_to(&f, configs[i], 1e6, sqrt(all)));
    }
    assert_all(clips_to(&f, (struct exact_config){STRATEGY_none, VARIANT_usual}, 10, sqrt(own)));
}

/* Sums of integers are limited exactly; without a sum, the rank's own gradient is. */
static bool limits_to(struct fixture *f, struct exact_config config, double limit)
{
    enum { N = 1001 };
    bool alone = config.strategy == STRATEGY_none;
    if (!open_config(f, config, N))
        return false;
    f->optimizer.clip_value = limit;
    fixture_fill(f);
    bool good = fixture_step(f, 1);
    const real *params = fixture_params(f);
    good = good && params != NULL;
    for (size_t i = 0; i < N && good; i++) {
        double sum = 0;
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += alone && r != mpi_world_rank() ? 0 : (double)whole_gradient(r, i);
        good = (double)params[i] == -fmax(-limit, fmin(limit, sum));
    }
    sync_destroy(f->sync);
    return good;
}

static void gradients_are_clipped_by_value(void **state)
{
    struct fixture f;
    setup(&f);
    for (int i = 0; i < n_configs; i++)
        assert_all(limits_to(&f, configs[i], 20));
    assert_all(limits_to(&f, (struct exact_config){STRATEGY_none, VARIANT_usual}, 20));
}

/* Rounding: p products and p - 1 sums, or an exact sum and one product; 1 / p is rounded as
 * well. */
static bool averages(struct fixture *f, struct exact_config config)
{
    enum { N = 1001 };
    int p = mpi_world_ranks();
    if (!open_config(f, config, N))
        return false;
    fixture_fill(f);
    bool good = fixture_step(f, 1);
    const real *params = fixture_params(f);
    good = good && params != NULL;
    for (size_t i = 0; i < N && good; i++) {
        double sum = 0, size = 0;
        for (int r = 0; r < p; r++) {
            sum += (double)whole_gradient(r, i) / p;
            size += fabs((double)whole_gradient(r, i)) / p;
        }
        double error = fabs((double)params[i] + sum);
        good = error <= (p + 1) * REAL_EPSILON * size;
    }
    good = fixture_is_equal_everywhere(f) && good;
    sync_destroy(f->sync);
    return good;
}

static void sums_are_scaled_before_or_after(void **state)
{
    struct fixture f;
    setup(&f);
    for (int i = 0; i < n_configs; i++) {
        f.config.scale = GRADIENT_SCALE_pre;
        assert_all(averages(&f, configs[i]));
        f.config.scale = GRADIENT_SCALE_post;
        assert_all(averages(&f, configs[i]));
    }
}

static void gather_and_barrier_work(void **state)
{
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

/* Rank 0 is late, and the others wait inside MPI, where they must yield. */
static void ranks_yield_inside_the_library(void **state)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    if (strstr(library, "ch4:ucx") == NULL)
        skip();
    progress_yield();
    uint64_t before = progress_yields();
    if (mpi_world_rank() == 0)
        usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_all(mpi_world_rank() == 0 || progress_yields() > before);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    list_configs();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_config_sums_integers_exactly),
        cmocka_unit_test(every_wait_policy_sums_exactly),
        cmocka_unit_test(every_config_keeps_bound_bits_and_time),
        cmocka_unit_test(fixed_order_gives_the_same_bits),
        cmocka_unit_test(none_leaves_gradients_alone),
        cmocka_unit_test(broadcast_gives_everyone_rank_0s_weights),
        cmocka_unit_test(norms_add_up),
        cmocka_unit_test(gradients_are_clipped_by_their_global_norm),
        cmocka_unit_test(gradients_are_clipped_by_value),
        cmocka_unit_test(sums_are_scaled_before_or_after),
        cmocka_unit_test(gather_and_barrier_work),
        cmocka_unit_test(ranks_yield_inside_the_library),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
