/* Compressors on real ranks, under every strategy that supports them: error bounds, equal bits on
 * every rank, counts against an independent count and the formulas, residuals.
 * double: 3 */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/tests/mpi_seen.h"
#include "comm/tests/sync_fixture.h"
#include "kernels/base/clock.h"

/* ---- A net of four tensors, two of them matrices ---- */

static void setup(struct fixture *f)
{
    fixture_init(f);
    f->config.options[SYNC_topk] = 5;
}

/* Opens a network of n numbers: a wide matrix, a tall one, and the rest in two vectors. */
static bool open_sync(struct fixture *f, enum strategy_kind strategy, size_t n)
{
    size_t side = 0;
    while (6 * (side + 1) * (side + 1) <= n)
        side++;
    fixture_no_tensors(f);
    fixture_add_tensor(f, side, 3 * side);
    fixture_add_tensor(f, n / 10, 0);
    fixture_add_tensor(f, 2 * side, side);
    fixture_add_tensor(f, n - f->desc.n_params, 0);
    return fixture_open(f, strategy);
}

/* ---- `check` for every compressor of a kind and every strategy that accepts it ---- */

typedef bool check_function(struct fixture *f, enum strategy_kind strategy);

static const enum strategy_kind takers[] = {STRATEGY_allreduce, STRATEGY_allreduce_layer,
                                            STRATEGY_bucketed};
enum { TAKERS = sizeof takers / sizeof *takers };

static void check_each(check_function *check, unsigned flags, unsigned without)
{
    struct fixture f;
    setup(&f);
    for (int c = COMPRESSOR_none + 1; c < COMPRESSORS; c++) {
        unsigned own = compressor_flags((enum compressor_kind)c);
        if ((own & flags) != flags || (own & without) != 0)
            continue;
        f.config.compressor = (enum compressor_kind)c;
        for (int t = 0; t < TAKERS; t++) {
            bool good = mpi_all(check(&f, takers[t]));
            if (!good)
                print_error("%s of %s\n", compressor_names()[c], strategy_names()[takers[t]]);
            assert_true(good);
        }
    }
}

/* ---- 16 bits ---- */

/* Returns gradients that are exact in 8 bits, also summed over 7 ranks. */
static real small_gradient(int rank, int i)
{
    return (real)((i * 7 + rank * 13) % 61 - 30);
}

static bool sums_whole_numbers(struct fixture *f, enum strategy_kind strategy)
{
    int p = mpi_world_ranks(), rank = mpi_world_rank();
    const int sizes[] = {0, 1, p - 1, p, p + 1, 97, 1009, 7850};
    bool good = true;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        good = open_sync(f, strategy, sizes[k]) && good;
        for (int i = 0; i < sizes[k]; i++)
            f->sync->arenas.grads[i] = small_gradient(rank, i);
        good = fixture_step(f, 1) && good;
        for (int i = 0; i < sizes[k]; i++) {
            real sum = 0;
            for (int r = 0; r < p; r++)
                sum += small_gradient(r, i);
            good = good && f->sync->arenas.params[i] == -sum;
        }
        sync_destroy(f->sync);
    }
    return good;
}

static void small_whole_numbers_are_summed_exactly(void **state)
{
    check_each(sums_whole_numbers, 0, COMPRESSOR_FEEDBACK);
}

/* Returns gradients of many sizes, down to those that are denormal in fp16. */
static real rough_gradient(int rank, int i)
{
    return (real)(sin(i + 10007.0 * rank) * pow(2, i % 30 - 20));
}

/* Error bound: u for each of two roundings (in double precision by way of float), eps for each
 * of p-1 sums. For denormal numbers: half the smallest number for each of p + 1 roundings. */
static double bound_of(const struct fixture *f, int i)
{
    bool fp16 = f->config.compressor == COMPRESSOR_fp16;
    int p = mpi_world_ranks();
    double u = fp16 ? 0x1p-11 : 0x1p-8, size = 0;
    double least = fp16 ? 0x1p-25 / f->config.options[SYNC_fp16_scale] : 0x1p-134;
    if (sizeof(real) == 8)
        u = (1 + u) * (1 + 0x1p-24) - 1;
    for (int r = 0; r < p; r++)
        size += fabs((double)rough_gradient(r, i));
    return (pow(1 + u, 2) * pow(1 + REAL_EPSILON, p - 1) - 1) * size + (p + 1) * least;
}

static bool keeps_bound_bits_and_time(struct fixture *f, enum strategy_kind strategy)
{
    enum { N = 5003 };
    bool good = open_sync(f, strategy, N);
    real *grads = f->sync->arenas.grads;
    for (int i = 0; i < N; i++)
        grads[i] = rough_gradient(mpi_world_rank(), i);
    good = fixture_step(f, 1) && good;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += (double)rough_gradient(r, i);
        good = good && fabs((double)grads[i] - sum) <= bound_of(f, i);
    }
    const struct sync_times *t = &f->sync->times;
    good = good && t->pack_ns > 0 && t->comm_exposed_ns > 0 &&
           t->comm_exposed_ns <= t->comm_total_ns && f->sync->infinite == 0;
    good = fixture_is_equal_everywhere(f) && good;
    sync_destroy(f->sync);
    return good;
}

static void sums_in_16_bits_keep_their_bound(void **state)
{
    check_each(keeps_bound_bits_and_time, 0, COMPRESSOR_FEEDBACK);
}

/* One gradient per rank is 3e4: each fits in fp16, a sum of three does not. */
static void fp16_counts_overflows(void **state)
{
    enum { N = 100 };
    struct fixture f;
    int p = mpi_world_ranks();
    setup(&f);
    const double scales[] = {1, 4};
    for (int k = 0; k < 2; k++) {
        f.config.compressor = COMPRESSOR_fp16;
        f.config.options[SYNC_fp16_scale] = scales[k];
        assert_all(open_sync(&f, STRATEGY_allreduce, N));
        f.sync->arenas.grads[N / 2] = 30000;
        bool good = fixture_step(&f, 1);
        bool expected = p > 2 || scales[k] > 1;
        good = good && !!isinf(f.sync->arenas.grads[N / 2]) == expected;
        uint64_t infinite = f.sync->infinite;
        PMPI_Allreduce(MPI_IN_PLACE, &infinite, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        /* with the scale, every rank's number and the sum overflow */
        good = good && infinite == (uint64_t)(scales[k] > 1 ? p + 1 : expected);
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* 1e-8 is less than half of fp16's smallest number; times 2^14 it is a normal number. */
static void fp16_scale_saves_small_numbers(void **state)
{
    enum { N = 10 };
    struct fixture f;
    setup(&f);
    const double scales[] = {1, 16384};
    for (int k = 0; k < 2; k++) {
        f.config.compressor = COMPRESSOR_fp16;
        f.config.options[SYNC_fp16_scale] = scales[k];
        assert_all(open_sync(&f, STRATEGY_allreduce, N));
        for (int i = 0; i < N; i++)
            f.sync->arenas.grads[i] = (real)1e-8;
        bool good = fixture_step(&f, 1);
        double found = (double)f.sync->arenas.grads[3], sum = 1e-8 * mpi_world_ranks();
        good = good && (k == 0 ? found == 0 : fabs(found - sum) <= 0x1p-10 * sum);
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* ---- Error feedback ---- */

static real step_gradient(int step, int rank, int i)
{
    return (real)((i * 7 + rank * 13 + step * 29) % 101 - 50);
}

/* Residuals are at the start of a rank's memory. */
static const real *residuals_of(struct fixture *f)
{
    const void *kept;
    size_t bytes;
    struct error e;
    return sync_save(f->sync, &kept, &bytes, &e) == OK && bytes >= f->sync->arenas.n * sizeof(real)
               ? kept
               : NULL;
}

/* Error bound of powersgd after `steps` steps of gradients up to 50. P' M is a contraction, so
 * residuals and all products stay below the norm of all gradients so far. A product of rank 2
 * rounds 2 + 1 times, on each rank and in the sum. The sum of Q over ranks rounds p times;
 * adding residuals, subtracting and the parameter step once each. */
static double powersgd_bound(int n, int steps)
{
    int p = mpi_world_ranks();
    double norm = steps * 50.0 * sqrt(n) * p;
    return steps * (p + 9) * REAL_EPSILON * norm;
}

/* Checks that the sum of all steps plus all residuals equals the gradients. Top-k moves numbers;
 * signs subtract scales of 8 bits from integers of 7 bits: both are exact. */
static bool conserves(struct fixture *f, enum strategy_kind strategy)
{
    enum { N = 1213, STEPS = 5 };
    static double missing[N];
    int rank = mpi_world_rank();
    bool good = open_sync(f, strategy, N), left_something = false;
    memset(missing, 0, sizeof missing);
    for (int k = 0; k < STEPS; k++) {
        for (int i = 0; i < N; i++) {
            f->sync->arenas.grads[i] = step_gradient(k, rank, i);
            missing[i] += (double)step_gradient(k, rank, i);
        }
        good = fixture_step(f, 1) && good;
    }
    const real *residuals = residuals_of(f);
    for (int i = 0; i < N; i++) {
        missing[i] -= (double)residuals[i];
        left_something = left_something || residuals[i] != 0;
    }
    mpi_sum(missing, N);
    double allowed = f->config.compressor == COMPRESSOR_powersgd ? powersgd_bound(N, STEPS) : 0;
    for (int i = 0; i < N; i++)
        good = good && fabs(missing[i] + (double)f->sync->arenas.params[i]) <= allowed;
    good = fixture_is_equal_everywhere(f) && good && left_something;
    sync_destroy(f->sync);
    return good;
}

static void nothing_is_lost(void **state)
{
    check_each(conserves, COMPRESSOR_FEEDBACK, 0);
}

/* ---- Top-k ---- */

/* Returns how many of this rank's gradients rank before number i: larger ones, and equal ones at
 * lower places. */
static int place_of(int rank, int i, int n)
{
    int place = 0;
    double own = fabs((double)step_gradient(0, rank, i));
    for (int k = 0; k < n; k++) {
        double other = fabs((double)step_gradient(0, rank, k));
        place += other > own || (other == own && k < i);
    }
    return place;
}

static void topk_sends_the_largest(void **state)
{
    enum { N = 211, K = 11 }; /* 5 % */
    struct fixture f;
    setup(&f);
    f.config.compressor = COMPRESSOR_topk;
    assert_all(open_sync(&f, STRATEGY_allreduce, N));
    for (int i = 0; i < N; i++)
        f.sync->arenas.grads[i] = step_gradient(0, mpi_world_rank(), i);
    bool good = fixture_step(&f, 1);
    for (int i = 0; i < N; i++) {
        real sum = 0;
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += place_of(r, i, N) < K ? step_gradient(0, r, i) : 0;
        good = good && f.sync->arenas.grads[i] == sum;
    }
    sync_destroy(f.sync);
    assert_all(good);
}

/* ---- Signs ---- */

/* Mean magnitudes of 1 + rank/8 have few bits. Zero counts as positive although its sign bit may
 * be set. */
static void signs_are_scaled_by_mean_magnitudes(void **state)
{
    enum { N = 400 };
    struct fixture f;
    int p = mpi_world_ranks(), rank = mpi_world_rank();
    setup(&f);
    f.config.compressor = COMPRESSOR_sign;
    assert_all(open_sync(&f, STRATEGY_allreduce, N));
    for (int i = 0; i < N; i++)
        f.sync->arenas.grads[i] = (real)((1 + rank / 8.0) * (i % 3 == 0 ? -1 : 1));
    bool good = fixture_step(&f, 1);
    for (int i = 0; i < N; i++)
        good = good &&
               (double)f.sync->arenas.grads[i] == (p + p * (p - 1) / 16.0) * (i % 3 == 0 ? -1 : 1);
    const real *residuals = residuals_of(&f);
    for (int i = 0; i < N; i++)
        good = good && residuals[i] == 0;
    sync_destroy(f.sync);
    assert_all(good);
}

/* ---- PowerSGD ---- */

/* Error bound, in norm, of one step at full rank, for matrices whose norms add up to `norm`. The
 * n vectors of P are orthonormal to 2 n eps; M'P and P Q' are sums of n products. */
static double full_rank_bound(double norm, int n)
{
    return (4.0 * n + mpi_world_ranks()) * REAL_EPSILON * norm;
}

/* Sums exactly at full rank, or (low) at the rank of the matrices after one step has found their
 * range. */
static bool sums_everything(struct fixture *f, int rank, bool low)
{
    enum { N = 600 };
    f->config.compressor = COMPRESSOR_powersgd;
    f->config.options[SYNC_rank] = rank;
    bool good = open_sync(f, STRATEGY_allreduce, N);
    for (int k = 0; k < 3; k++) {
        double squares[64] = {0}, norm = 0, error = 0;
        for (int i = 0; i < N; i++)
            f->sync->arenas.grads[i] =
                low ? (real)(1 + mpi_world_rank()) : step_gradient(k, mpi_world_rank(), i);
        good = fixture_step(f, 1) && good;
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int r = 0; r < mpi_world_ranks(); r++) {
                double x = low ? 1.0 + r : (double)step_gradient(k, r, i);
                sum += x;
                squares[r] += x * x;
            }
            error += pow((double)f->sync->arenas.grads[i] - sum, 2);
        }
        for (int r = 0; r < mpi_world_ranks(); r++)
            norm += sqrt(squares[r]);
        good = good && sqrt(error) <= full_rank_bound(norm, 10);
    }
    sync_destroy(f->sync);
    return good;
}

static void powersgd_of_full_rank_is_the_sum(void **state)
{
    struct fixture f;
    setup(&f);
    assert_all(sums_everything(&f, 1000, false));
    assert_all(sums_everything(&f, 10, false));
    assert_all(sums_everything(&f, 1, true));
    assert_all(sums_everything(&f, 3, true)); /* more vectors than the matrix has */
    assert_all(!sums_everything(&f, 2, false));
}

/* ---- All of them ---- */

/* Compares the MPI calls seen, the waiter's counts and the cost formula. */
static bool counts_agree(struct fixture *f, enum strategy_kind strategy)
{
    enum { STEPS = 3 };
    const int sizes[] = {3, 1234};
    bool good = true;
    for (int k = 0; k < 2; k++) {
        good = open_sync(f, strategy, sizes[k]) && good;
        const struct waiter before = *f->waiter, *w = f->waiter;
        forget_seen();
        for (int i = 0; i < STEPS; i++)
            good = fixture_step(f, 1) && good;
        struct cost cost = sync_cost(f->sync);
        uint64_t calls = w->calls - before.calls, bytes = w->bytes_payload - before.bytes_payload;
        uint64_t messages = w->messages_sent - before.messages_sent;
        uint64_t sent = w->bytes_sent - before.bytes_sent;
        good = good && calls == seen.calls && bytes == seen.bytes && calls == STEPS * cost.calls &&
               bytes == STEPS * cost.bytes_payload;
        good = good && messages == seen.messages && sent == seen.sent;
        if (strcmp(cost.wire_source, WIRE_COUNTED) == 0)
            good =
                good && messages == STEPS * cost.messages_wire && sent == STEPS * cost.bytes_wire;
        good = good && sends_follow_program(f->sync, STEPS);
        sync_destroy(f->sync);
    }
    return good;
}

static void counters_equal_an_independent_count(void **state)
{
    check_each(counts_agree, 0, 0);
}

static bool shows_nan(struct fixture *f, enum strategy_kind strategy)
{
    enum { N = 300 };
    bool good = open_sync(f, strategy, N);
    if (mpi_world_rank() == mpi_world_ranks() - 1)
        f->sync->arenas.grads[5] = (real)NAN;
    good = fixture_step(f, 1) && good;
    good = good && isnan(f->sync->arenas.params[5]);
    sync_destroy(f->sync);
    return good;
}

static void nan_of_one_rank_reaches_all(void **state)
{
    check_each(shows_nan, 0, 0);
}

/* Rank 0 computes between the sums of two buckets. Its arrival must include that time, and
 * together with its waits be no later than the end. */
static void computing_between_buckets_delays_arrival(void **state)
{
    enum { N = 12000, LATE_NS = 20000000 };
    struct fixture f;
    struct error e;
    setup(&f);
    f.config.compressor = COMPRESSOR_sign;
    f.config.options[SYNC_cap_mib] = f.config.options[SYNC_first_cap_mib] = 1 / 0x1p20;
    bool good = open_sync(&f, STRATEGY_bucketed, N);
    for (size_t i = 0; i < f.desc.n_params; i++)
        f.sync->arenas.grads[i] = 1;
    int64_t begin_ns = clock_ns();
    sync_step_begin(f.sync);
    for (int i = f.desc.n_tensors - 1; i >= 0; i--) {
        while (i == 1 && mpi_world_rank() == 0 && clock_ns() < begin_ns + LATE_NS) {
        }
        good = good && sync_grad_ready(f.sync, (struct range){i, i + 1}, 0, true, &e) == OK;
    }
    int64_t end_ns = clock_ns();
    const struct sync_times *t = &f.sync->times;
    if (t->arrive_ns != 0) {
        int64_t own_ns = t->arrive_ns - begin_ns;
        good = good && own_ns >= 0 && t->arrive_ns + t->comm_exposed_ns <= end_ns;
        good = good && (mpi_world_rank() != 0 || own_ns + t->comm_exposed_ns >= LATE_NS);
    }
    good = good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK;
    sync_destroy(f.sync);
    assert_all(good);
}

static void fill_unevenly(const struct fixture *f)
{
    real *grads = fixture_grads(f);
    for (size_t i = 0; i < f->desc.n_params; i++)
        grads[i] = (real)sin((double)i + 1000.0 * mpi_world_rank());
}

/* Passes tensors one by one with tests in between. Returns whether all were sent and no rank
 * waited before the end of the step. */
static bool leaves_without_waiting(struct fixture *f)
{
    struct error e;
    const struct waiter *w = f->sync->waiter;
    uint64_t waits = w->sequence, sent = w->messages_sent;
    bool good = true;
    sync_step_begin(f->sync);
    for (int i = f->desc.n_tensors - 1; i >= 0 && good; i--) {
        good = sync_grad_ready(f->sync, (struct range){i, i + 1}, 0, true, &e) == OK;
        sync_poll(f->sync);
    }
    uint64_t least = (uint64_t)(f->desc.n_tensors * (mpi_world_ranks() - 1));
    good = good && w->sequence == waits && f->sync->times.arrive_ns == 0;
    good = good && w->messages_sent - sent >= least;
    return sync_step_end(f->sync, &f->optimizer, ++f->step, 1, &e) == OK && good;
}

/* Each tensor is a bucket; results must have the bits of a single sum, step after step. */
static void buckets_of_16_bits_are_not_waited_for(void **state)
{
    enum { N = 12000, STEPS = 3 };
    static real whole[N];
    struct fixture f;
    setup(&f);
    f.config.options[SYNC_cap_mib] = f.config.options[SYNC_first_cap_mib] = 1 / 0x1p20;
    for (int c = COMPRESSOR_none + 1; c < COMPRESSORS; c++) {
        f.config.compressor = (enum compressor_kind)c;
        if (!(compressor_flags(f.config.compressor) & COMPRESSOR_OVERLAPS))
            continue;
        bool good = open_sync(&f, STRATEGY_allreduce, N);
        for (int i = 0; i < STEPS && good; i++) {
            fill_unevenly(&f);
            good = fixture_step(&f, 1);
        }
        memcpy(whole, fixture_params(&f), sizeof whole);
        sync_destroy(f.sync);
        good = open_sync(&f, STRATEGY_bucketed, N) && good;
        for (int i = 0; i < STEPS && good; i++) {
            fill_unevenly(&f);
            good = mpi_all(leaves_without_waiting(&f));
        }
        good = good && memcmp(whole, fixture_params(&f), sizeof whole) == 0;
        sync_destroy(f.sync);
        assert_all(good);
    }
}

static void other_strategies_refuse_compressors(void **state)
{
    struct fixture f;
    setup(&f);
    f.config.compressor = COMPRESSOR_bf16;
    for (int s = 0; s < STRATEGIES; s++) {
        struct error e;
        enum strategy_kind strategy = (enum strategy_kind)s;
        if (strategy_flags(strategy) & STRATEGY_COMPRESSES)
            continue;
        assert_all(fixture_create(&f, strategy, &e) == ERR_ARGUMENT);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_whole_numbers_are_summed_exactly),
        cmocka_unit_test(sums_in_16_bits_keep_their_bound),
        cmocka_unit_test(fp16_counts_overflows),
        cmocka_unit_test(fp16_scale_saves_small_numbers),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(topk_sends_the_largest),
        cmocka_unit_test(signs_are_scaled_by_mean_magnitudes),
        cmocka_unit_test(powersgd_of_full_rank_is_the_sum),
        cmocka_unit_test(nan_of_one_rank_reaches_all),
        cmocka_unit_test(counters_equal_an_independent_count),
        cmocka_unit_test(computing_between_buckets_delays_arrival),
        cmocka_unit_test(buckets_of_16_bits_are_not_waited_for),
        cmocka_unit_test(other_strategies_refuse_compressors),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
