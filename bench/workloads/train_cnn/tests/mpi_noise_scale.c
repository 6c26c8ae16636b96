/* Tests the noise scale of the trainer: each strategy that sums exactly finds the estimates that
 * follow from the ranks' gradients, summed directly.
 *
 * ranks: 2 3 4
 * double: 3 */
#include "bench/workloads/train_cnn/tests/train_fixture.h"
#include "kernels/base/names.h"

/* Full steps of an epoch: 120 images in batches of 25. The fifth step has 20 images. */
enum { FULL_STEPS = 4, STEPS = 5 };

/* Means over ranks and full steps: squared norms of the gradients of ranks and of the sum. */
struct squares {
    double local2, total2;
};

/* Trains each rank alone, with weights that do not move: its gradient is then its own mean. Adds
 * the squares of these gradients and of their sum, weighted by images. */
static bool add_squares(struct squares *sum)
{
    struct session s;
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    size_t n = good ? arenas_of(&s)->n : 0;
    double *total = calloc(n + 1, sizeof *total);
    for (uint32_t k = 0; k < FULL_STEPS; k++) {
        double local2 = 0;
        good = session_step(&s, k) && good;
        for (size_t i = 0; i < n; i++) {
            double x = (double)arenas_of(&s)->grads[i];
            local2 += x * x / mpi_world_ranks() / FULL_STEPS;
            total[i] = x * s.trainer.batches.own_images / 25;
        }
        mpi_sum(total, n);
        for (size_t i = 0; i < n; i++)
            sum->total2 += total[i] * total[i] / FULL_STEPS;
        mpi_sum(&local2, 1);
        sum->local2 += local2;
    }
    free(total);
    session_close(&s);
    return good;
}

/* Mean over ranks of 1 / images of the rank. */
static double inverse_batch(void)
{
    double ranks = mpi_world_ranks(), larger = 25 % mpi_world_ranks(),
           least = 25 / mpi_world_ranks();
    return (larger / (least + 1) + (ranks - larger) / least) / ranks;
}

static bool estimate(struct noise_estimate *found)
{
    struct session s;
    struct error e;
    struct noise_sums sums = {0};
    session_noise = &sums;
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && session_steps(&s, STEPS) &&
                trainer_sum_noise(&s.trainer, found, &e) == OK && sums.totals == 0;
    session_noise = NULL;
    session_close(&s);
    return good;
}

/* Gradients may differ by 1e-5 of their norm from other orders of summation, so squares differ by
 * less than 4e-5 of the larger square. The estimates divide this by the difference of inverse
 * batches. */
static bool agrees(const struct noise_estimate *found, const struct squares *direct)
{
    double b = 1 / inverse_batch(), all = 25, limit = 4e-5 * direct->local2;
    double norm2 = (all * direct->total2 - b * direct->local2) / (all - b);
    double variance = (direct->local2 - direct->total2) / (1 / b - 1 / all);
    return fabs(found->norm2 - norm2) < limit * (all + b) / (all - b) &&
           fabs(found->variance - variance) < 2 * limit / (1 / b - 1 / all);
}

static bool find_direct(struct squares *direct)
{
    *direct = (struct squares){0, 0};
    option(OPT_LR, "1e-12"); /* weights stay, so that all steps have the same ones */
    option(OPT_STRATEGY, "none");
    return add_squares(direct);
}

static void every_exact_strategy_finds_the_same(void **state)
{
    struct squares direct;
    struct noise_estimate found;
    const char *names[STRATEGIES];
    assert_all(find_direct(&direct));
    assert_true(direct.local2 > direct.total2 && direct.total2 > 0);
    size_t n = strategy_list(STRATEGY_EXACT, names);
    for (size_t i = 0; i < n; i++) {
        option(OPT_STRATEGY, names[i]);
        assert_all(estimate(&found));
        assert_all(agrees(&found, &direct));
    }
    assert_true(n > 15);
}

/* Options that change when gradients are scaled, sent or clipped. */
static void options_leave_it_unchanged(void **state)
{
    static const struct {
        enum option_id id;
        const char *value, *preset;
    } changes[] = {{OPT_SCALE, "pre", "loss"},      {OPT_SCALE, "post", "loss"},
                   {OPT_CLIP_NORM, "0.01", "0"},    {OPT_CLIP_VALUE, "1e-4", "0"},
                   {OPT_ACCUMULATE, "3", "1"},      {OPT_OVERLAP, "poll_layers", "none"},
                   {OPT_sync_cap_mib, "0.01", "25"}};
    static const char *const strategies[] = {"allreduce", "bucketed", "zero2", "shm"};
    struct squares direct;
    struct noise_estimate found;
    assert_all(find_direct(&direct));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        option(changes[i].id, changes[i].value);
        for (size_t k = 0; k < 4; k++) {
            option(OPT_STRATEGY, strategies[k]);
            assert_all(estimate(&found));
            assert_all(agrees(&found, &direct));
        }
        option(changes[i].id, changes[i].preset);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        TEST(every_exact_strategy_finds_the_same),
        TEST(options_leave_it_unchanged),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
