/* Compares strategies that are not exact with references that every rank computes for all ranks.
 * A model whose gradient is linear in its weights replaces a network, so that stale or
 * rank-specific gradients show in the weights. */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/cost/strategies/gossip.h"
#include "comm/tests/linear_model.h"
#include "comm/tests/mpi_seen.h"
#include "kernels/gemm.h"

/* ---- Counters ---- */

/* Makes all ranks wait for each other, since a free-running server has answered all steps only
 * then. */
static bool reach_same_step(struct fixture *f)
{
    struct error e;
    return wait_barrier(f->waiter, MPI_COMM_WORLD, "end of a test's steps", &e) == OK;
}

/* Compares the MPI calls seen, the waiter's counts and the cost formula. */
static bool counts_agree(struct fixture *f)
{
    const struct cost cost = sync_cost(f->sync);
    bool own = strcmp(cost.wire_source, WIRE_COUNTED) == 0, good = step(f, 1);
    while (f->step % cost.steps != 0)
        good = step(f, 1) && good;
    good = reach_same_step(f) && good;
    const struct waiter before = *f->waiter, *w = f->waiter;
    forget_seen();
    PMPI_Barrier(MPI_COMM_WORLD); /* no rank pushes before all count */
    for (uint64_t i = 0; i < 2 * cost.steps; i++)
        good = step(f, 1) && good;
    good = reach_same_step(f) && good;
    /* without the barrier, which `seen` does not count */
    uint64_t calls = w->calls - before.calls - 1;
    uint64_t bytes = w->bytes_payload - before.bytes_payload;
    uint64_t messages = w->messages_sent - before.messages_sent;
    uint64_t sent = w->bytes_sent - before.bytes_sent;
    return good && calls == seen.calls && calls == 2 * cost.calls && bytes == seen.bytes &&
           bytes == 2 * cost.bytes_payload && messages == seen.messages && sent == seen.sent &&
           messages == (own ? 2 * cost.messages_wire : 0) &&
           sent == (own ? 2 * cost.bytes_wire : 0) && sends_follow_program(f->sync, 2);
}

/* Covers every variant of every inexact strategy that sends. */
static void counters_equal_an_independent_count(void **state)
{
    struct fixture f;
    const char *variants[VARIANTS];
    setup(&f);
    f.config.options[SYNC_period] = 3;
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        size_t n = strategy_variant_list(kind, variants);
        f.config.options[SYNC_servers] =
            kind == STRATEGY_param_server && mpi_world_ranks() > 1 ? 2 : 1;
        for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
            f.config.variant = strategy_variant_find(kind, variants[i]);
            if (strategy_config_flags(kind, f.config.variant) & STRATEGY_EXACT)
                continue;
            assert_all(open_with(&f, kind, 0.5));
            bool good = counts_agree(&f);
            sync_destroy(f.sync);
            if (!good)
                print_error("%s %s\n", strategy_names()[s], variants[i]);
            assert_all(good);
        }
    }
}

/* ---- delayed ---- */

/* Computes in one process: step t applies the gradient of step t - 1. */
static void stale_reference(double *w, double momentum)
{
    double due[N] = {0}, velocity[N] = {0};
    int ranks = mpi_world_ranks();
    for (int t = 0; t < STEPS; t++) {
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (int r = 0; r < ranks; r++)
                sum += gradient_at(r, i, w[i]) / ranks;
            if (t > 0) {
                velocity[i] = momentum * velocity[i] + due[i];
                w[i] -= LR * velocity[i];
            }
            due[i] = sum;
        }
    }
}

static void delayed_is_one_step_stale(void **state)
{
    struct fixture f;
    double expected[N] = {0};
    setup(&f);
    assert_all(open_with(&f, STRATEGY_delayed, 0.5));
    bool good = true;
    for (int t = 0; t < STEPS; t++) {
        good = step(&f, 1.0 / mpi_world_ranks()) && fixture_is_equal_everywhere(&f) && good;
        if (t == 0)
            good = good && f.sync->arenas.params[0] == 0 && f.sync->arenas.params[N - 1] == 0;
    }
    stale_reference(expected, 0.5);
    good = params_are_near(&f, expected) && good;
    sync_destroy(f.sync);
    assert_all(good);
}

/* The applied sum is clipped by its own norm, not by the newest gradient's norm. */
static void delayed_clips_the_applied_sum(void **state)
{
    struct fixture f;
    setup(&f);
    assert_all(open_with(&f, STRATEGY_delayed, 0));
    f.optimizer.clip_norm = 3;
    bool good = step(&f, 1) && step(&f, 1000);
    double squares = 0;
    for (size_t i = 0; i < N; i++)
        squares += pow((double)f.sync->arenas.params[i], 2);
    sync_destroy(f.sync);
    assert_all(good && is_near(sqrt(squares), 3 * LR, 3 * LR));
}

/* ---- local_sgd ---- */

/* Computes all ranks in one process: gradients are averaged up to step `post`, then weights
 * every `period` steps. */
static void local_reference(double w[RANKS_MAX][N], int post, int period, double momentum)
{
    static double velocity[RANKS_MAX][N];
    int ranks = mpi_world_ranks();
    memset(velocity, 0, sizeof velocity);
    for (int t = 1; t <= STEPS; t++) {
        for (size_t i = 0; i < N; i++) {
            double mean = 0, weights = 0;
            for (int r = 0; r < ranks; r++)
                mean += gradient_at(r, i, w[r][i]) / ranks;
            for (int r = 0; r < ranks; r++) {
                double g = t <= post ? mean : gradient_at(r, i, w[r][i]);
                velocity[r][i] = momentum * velocity[r][i] + g;
                w[r][i] -= LR * velocity[r][i];
                weights += w[r][i] / ranks;
            }
            for (int r = 0; r < ranks && t > post && (t - post) % period == 0; r++)
                w[r][i] = weights;
        }
    }
}

static void mean_of(double w[RANKS_MAX][N], double *mean)
{
    int ranks = mpi_world_ranks();
    for (size_t i = 0; i < N; i++) {
        mean[i] = 0;
        for (int r = 0; r < ranks; r++)
            mean[i] += w[r][i] / ranks;
    }
}

/* Checks that all ranks evaluate the same model and then have their own weights again. */
static bool evaluates_the_mean(struct fixture *f, const double *mean)
{
    struct error e;
    real own[N];
    memcpy(own, f->sync->arenas.params, sizeof own);
    bool good = sync_eval_begin(f->sync, &e) == OK;
    good = params_are_near(f, mean) && good;
    good = fixture_is_equal_everywhere(f) && good;
    good = sync_eval_end(f->sync, &e) == OK && good;
    return good && memcmp(own, f->sync->arenas.params, sizeof own) == 0;
}

static void local_sgd_averages_every_period(void **state)
{
    static double expected[RANKS_MAX][N];
    const int periods[][2] = {{1, 0}, {5, 0}, {4, 3}, {1, 20}}; /* period, post_local */
    struct fixture f;
    double mean[N];
    setup(&f);
    for (int k = 0; k < 4; k++) {
        f.config.options[SYNC_period] = periods[k][0];
        f.config.options[SYNC_post_local] = periods[k][1];
        assert_all(open_with(&f, STRATEGY_local_sgd, 0.5));
        bool good = true;
        for (int t = 0; t < STEPS; t++)
            good = step(&f, 1) && good;
        memset(expected, 0, sizeof expected);
        local_reference(expected, periods[k][1], periods[k][0], 0.5);
        mean_of(expected, mean);
        good = params_are_near(&f, expected[f.sync->rank]) && good;
        good = evaluates_the_mean(&f, mean) && good;
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* A local step clips by the rank's own norm, a common step by the norm of the average. */
static void local_sgd_clips_the_applied_gradient(void **state)
{
    for (int together = 0; together < 2; together++) {
        struct fixture f;
        setup(&f);
        f.config.options[SYNC_period] = 100;
        f.config.options[SYNC_post_local] = (uint64_t)together;
        assert_all(open_with(&f, STRATEGY_local_sgd, 0));
        f.optimizer.clip_norm = 3;
        bool good = step(&f, mpi_world_rank() + 1);
        double squares = 0;
        for (size_t i = 0; i < N; i++)
            squares += pow((double)f.sync->arenas.params[i], 2);
        good = good && is_near(sqrt(squares), 3 * LR, 3 * LR);
        good = good && (!together || fixture_is_equal_everywhere(&f));
        sync_destroy(f.sync);
        assert_all(good);
    }
}

/* ---- gossip ---- */

static bool only_average(struct fixture *f)
{
    struct error e;
    sync_step_begin(f->sync);
    memset(f->sync->arenas.grads, 0, N * sizeof(real));
    f->step++;
    return sync_step_end(f->sync, &f->optimizer, f->step, LR, &e) == OK;
}

static void sum_over_ranks(const struct fixture *f, double *sum)
{
    for (size_t i = 0; i < N; i++)
        sum[i] = (double)f->sync->arenas.params[i];
    PMPI_Allreduce(MPI_IN_PLACE, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Integers below 256 can be halved this often without rounding, in single precision too. The
 * mean then stays equal to the bit and replicas converge. */
static void gossip_conserves_the_mean(void **state)
{
    enum { HALVINGS = 14 };
    struct fixture f;
    double before[N], after[N];
    setup(&f);
    assert_all(open_with(&f, STRATEGY_gossip, 0));
    for (size_t i = 0; i < N; i++)
        f.sync->arenas.params[i] = (real)(128 * f.sync->rank % 251 + (int)i);
    sum_over_ranks(&f, before);
    double mine = (double)f.sync->arenas.params[0], mean = before[0] / mpi_world_ranks();
    double apart = fabs(mine - mean), nearer;
    bool good = true;
    for (int t = 0; t < HALVINGS; t++)
        good = only_average(&f) && good;
    sum_over_ranks(&f, after);
    good = good && memcmp(before, after, sizeof before) == 0;
    nearer = fabs((double)f.sync->arenas.params[0] - mean);
    PMPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(MPI_IN_PLACE, &nearer, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    good = good && (apart == 0 || nearer < apart / 4);
    sync_destroy(f.sync);
    assert_all(good);
}

/* Computes all ranks in one process: each steps, then pairs average. */
static void gossip_reference(double w[RANKS_MAX][N], double momentum)
{
    static double velocity[RANKS_MAX][N], next[RANKS_MAX][N];
    int ranks = mpi_world_ranks();
    memset(velocity, 0, sizeof velocity);
    for (int t = 1; t <= STEPS; t++) {
        for (int r = 0; r < ranks; r++) {
            for (size_t i = 0; i < N; i++) {
                velocity[r][i] = momentum * velocity[r][i] + gradient_at(r, i, w[r][i]);
                next[r][i] = w[r][i] - LR * velocity[r][i];
            }
        }
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < N; i++)
                w[r][i] = (next[r][i] + next[gossip_partner(r, ranks, (uint64_t)t)][i]) / 2;
    }
}

static void gossip_averages_pairs(void **state)
{
    static double expected[RANKS_MAX][N];
    struct fixture f;
    double mean[N];
    setup(&f);
    assert_all(open_with(&f, STRATEGY_gossip, 0.5));
    bool good = true;
    for (int t = 0; t < STEPS; t++)
        good = step(&f, 1) && good;
    memset(expected, 0, sizeof expected);
    gossip_reference(expected, 0.5);
    mean_of(expected, mean);
    good = params_are_near(&f, expected[f.sync->rank]) && good;
    good = evaluates_the_mean(&f, mean) && good;
    sync_destroy(f.sync);
    assert_all(good);
}

/* ---- adasum ---- */

/* Runs one step of SGD at rate 1 from 0, after which the weights are minus the combined
 * gradient. */
static bool combine(struct fixture *f, real gradient(int rank, size_t i))
{
    struct error e;
    sync_step_begin(f->sync);
    for (size_t i = 0; i < N; i++) {
        f->sync->arenas.grads[i] = gradient(f->sync->rank, i);
        f->sync->arenas.params[i] = 0;
    }
    return sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
}

/* Returns a gradient that is zero where other ranks' gradients are not, so that dot products are
 * 0. */
static real orthogonal(int rank, size_t i)
{
    return i % (size_t)mpi_world_ranks() == (size_t)rank ? (real)(i + 1) : 0;
}

static real equal(int rank, size_t i)
{
    return (real)i - 20;
}

static real any(int rank, size_t i)
{
    return (real)gradient_at(rank, i, 0);
}

/* Sums of integers are exact, and so is g/2 + g/2 for equal gradients. */
static void adasum_adds_orthogonal_and_averages_equal_gradients(void **state)
{
    struct fixture f;
    setup(&f);
    assert_all(open_with(&f, STRATEGY_adasum, 0));
    bool good = combine(&f, orthogonal);
    for (size_t i = 0; i < N; i++)
        good = good && f.sync->arenas.params[i] == -(real)(i + 1);
    good = combine(&f, equal) && good;
    for (size_t i = 0; i < N; i++)
        good = good && f.sync->arenas.params[i] == -equal(0, i);
    sync_destroy(f.sync);
    assert_all(good);
}

/* Combines a and b in a, for one tensor. */
static void combine_two(const struct tensor_desc *t, double *a, const double *b)
{
    double dot = 0, a2 = 0, b2 = 0;
    for (size_t i = t->offset; i < t->offset + t->count; i++) {
        dot += a[i] * b[i];
        a2 += a[i] * a[i];
        b2 += b[i] * b[i];
    }
    for (size_t i = t->offset; i < t->offset + t->count; i++)
        a[i] = (1 - dot / (2 * a2)) * a[i] + (1 - dot / (2 * b2)) * b[i];
}

/* Folds pairs until a power of two is left; then neighbours combine, then neighbours of pairs,
 * and so on. */
static void adasum_reference(const struct fixture *f, double *result)
{
    static double g[RANKS_MAX][N];
    int ranks = mpi_world_ranks(), power = 1, left = 0;
    while (2 * power <= ranks)
        power *= 2;
    for (int r = 0; r < ranks; left++) {
        bool pair = r < 2 * (ranks - power);
        double b[N];
        for (size_t i = 0; i < N; i++) {
            g[left][i] = gradient_at(r, i, 0);
            b[i] = pair ? gradient_at(r + 1, i, 0) : 0;
        }
        for (int k = 0; k < TENSORS && pair; k++)
            combine_two(&f->tensors[k], g[left], b);
        r += pair ? 2 : 1;
    }
    for (int distance = 1; distance < power; distance *= 2)
        for (int r = 0; r < power; r += 2 * distance)
            for (int k = 0; k < TENSORS; k++)
                combine_two(&f->tensors[k], g[r], g[r + distance]);
    memcpy(result, g[0], sizeof g[0]);
}

static void adasum_follows_its_tree(void **state)
{
    struct fixture f;
    double expected[N];
    setup(&f);
    assert_all(open_with(&f, STRATEGY_adasum, 0));
    bool good = combine(&f, any) && fixture_is_equal_everywhere(&f);
    adasum_reference(&f, expected);
    for (size_t i = 0; i < N; i++)
        expected[i] = -expected[i];
    good = params_are_near(&f, expected) && good;
    sync_destroy(f.sync);
    assert_all(good);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_equal_an_independent_count),
        cmocka_unit_test(delayed_is_one_step_stale),
        cmocka_unit_test(delayed_clips_the_applied_sum),
        cmocka_unit_test(local_sgd_averages_every_period),
        cmocka_unit_test(local_sgd_clips_the_applied_gradient),
        cmocka_unit_test(gossip_conserves_the_mean),
        cmocka_unit_test(gossip_averages_pairs),
        cmocka_unit_test(adasum_adds_orthogonal_and_averages_equal_gradients),
        cmocka_unit_test(adasum_follows_its_tree),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
