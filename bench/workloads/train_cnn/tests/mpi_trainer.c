/* Tests the trainer beyond its steps: division of epochs, equal replicas, repeatable runs,
 * evaluation, statistics, learning rates, tuned kernels.
 *
 * ranks: 1 2 3 4
 * double: 3 */
#include "bench/workloads/train_cnn/check.h"
#include "bench/workloads/train_cnn/parts/learning_rate.h"
#include "bench/workloads/train_cnn/tests/train_fixture.h"

enum { STEPS = 20 };

/* Ranks may measure different fastest kernels; rank 0's choice holds. */
static void tuned_ranks_compute_alike(void **state)
{
    struct session s;
    struct error e;
    char kernels[KERNELS_TEXT];
    uint8_t choices[64], expected[64] = {0};
    option(OPT_TUNE, "start");
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && session_step(&s, 0);
    assert_all(good && s.trainer.model.desc->n_layers <= 64);
    assert_all(is_equal_everywhere(trainer_hash(&s.trainer)));
    net_kernels_text(s.trainer.model.net, s.trainer.model.desc, kernels);
    uint64_t hash = 0;
    for (const char *c = kernels; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    assert_all(is_equal_everywhere(hash));
    int n = s.trainer.model.desc->n_layers;
    for (int i = 0; i < n; i++) {
        choices[i] = (uint8_t)((i + mpi_world_rank()) % KERNEL_CHOICES);
        expected[i] = (uint8_t)(i % KERNEL_CHOICES);
    }
    assert_all(trainer_share_choices(&s.trainer.job, choices, s.trainer.model.desc->n_layers, &e) ==
                   OK &&
               memcmp(choices, expected, (size_t)n) == 0);
    session_close(&s);
}

/* Statistics of replicas differ until an evaluation, which uses one model. */
static void local_batch_norm_is_evaluated_with_statistics_of_rank_0(void **state)
{
    struct session s;
    struct score score;
    struct class_counts classes;
    struct error e;
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    good = session_step(&s, 0) && good;
    uint64_t hash = trainer_hash(&s.trainer);
    size_t n = s.trainer.sync->arenas.n_buffers;
    real *root = malloc(n * sizeof *root);
    memcpy(root, s.trainer.sync->arenas.buffers, n * sizeof *root);
    mpi_bcast(root, n, MPI_REAL_TYPE);
    bool differs = memcmp(root, s.trainer.sync->arenas.buffers, n * sizeof *root) != 0;
    good = trainer_evaluate(&s.trainer, &fixture.data.test, &score, &classes, &e) == OK && good;
    bool same = memcmp(root, s.trainer.sync->arenas.buffers, n * sizeof *root) == 0;
    bool unmoved = trainer_hash(&s.trainer) == hash; /* the hash covers the parameters only */
    free(root);
    session_close(&s);
    assert_all(good && same && unmoved && differs == (mpi_world_rank() > 0));
}

/* Only the remainder is dropped: one rank with a divisible batch sees the same images, as long as
 * steps begin at the same positions. */
static void dropping_leaves_out_the_remainder(void **state)
{
    option(OPT_REMAINDER, "drop");
    struct session s;
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    uint32_t ranks = (uint32_t)mpi_world_ranks();
    struct batch batch = sampler_get(&s.trainer.batches.sampler, 0, 0);
    const struct sampler *sampler = &s.trainer.batches.sampler;
    bool good = batch.n == 25 / ranks && batch.global == 25 - 25 % ranks &&
                sampler->full_images == batch.global && sampler->n_max == batch.n;
    session_close(&s);
    assert_all(good);
}

static void shares_are_uneven_by_one_at_most(void **state)
{
    struct session s;
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    uint32_t ranks = (uint32_t)mpi_world_ranks(), rank = (uint32_t)mpi_world_rank();
    struct batch batch = sampler_get(&s.trainer.batches.sampler, 0, 0);
    bool good = batch.global == 25 && batch.n == 25 / ranks + (rank < 25 % ranks);
    session_close(&s);
    assert_all(good);
}

/* For any batch: its micro-batches are consecutive, none exceeds the longest one of a full batch,
 * and a full batch has as many as requested. */
static void micro_batches_make_up_a_batch(void **state)
{
    static const uint32_t samples[64];
    for (uint32_t full = 1; full <= 20; full++)
        for (uint32_t accumulate = 1; accumulate <= full; accumulate++) {
            const struct sampler s = {.n_max = full, .ranks = 3};
            for (uint32_t global = 1; global <= 3 * full; global++) {
                const struct batch batch = {
                    .n = (global + 2) / 3, .samples = samples, .global = global};
                uint32_t n = sampler_micro_batches(&s, &batch, accumulate), sum = 0;
                assert_true(n >= 1 && n <= accumulate);
                assert_true(batch.n < full || n == accumulate);
                for (uint32_t i = 0; i < n; i++) {
                    const struct batch part = batch_part(&batch, i, n);
                    assert_true(part.samples == samples + sum && part.global == global);
                    assert_true(part.n >= 1 && part.n <= sampler_micro_max(&s, accumulate));
                    sum += part.n;
                }
                assert_int_equal(sum, batch.n);
            }
        }
}

/* Five micro-batches need less than a third of the memory; little of it does not depend on their
 * size. */
static void micro_batches_take_less_memory(void **state)
{
    struct session s;
    size_t bytes[2];
    static const char *const accumulate[] = {"1", "5"};
    for (int i = 0; i < 2; i++) {
        option(OPT_ACCUMULATE, accumulate[i]);
        assert_all(session_open(&s, MPI_COMM_SELF, 1));
        bytes[i] = net_bytes(s.trainer.model.net);
        session_close(&s);
    }
    assert_true(bytes[1] < bytes[0] / 3);
}

/* Every sample of an epoch is used exactly once over all ranks. */
static void an_epoch_uses_every_sample_once(void **state)
{
    struct session s;
    double used[IMAGES] = {0};
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    for (uint32_t step = 0; step < s.trainer.batches.sampler.steps; step++) {
        struct batch batch = sampler_get(&s.trainer.batches.sampler, 3, step);
        for (uint32_t i = 0; i < batch.n; i++)
            used[batch.samples[i]]++;
    }
    session_close(&s);
    mpi_sum(used, IMAGES);
    bool good = true;
    for (int i = 0; i < IMAGES; i++)
        good = good && used[i] == 1;
    assert_all(good);
}

/* Runs STEPS steps on all ranks and keeps the hash of each. */
static bool hashed_run(struct hashes *h, struct record_end *end)
{
    struct session s;
    struct error e;
    bool good = session_open(&s, MPI_COMM_WORLD, 2) && hashes_reserve(h, STEPS, &e) == OK;
    for (uint32_t i = 0; i < STEPS; i++) {
        good = session_step(&s, i) && good;
        hashes_add(h, &s.trainer);
    }
    good = hashes_compare(h, &s.trainer.job, end, &e) == OK && good;
    session_close(&s);
    return good;
}

static void replicas_are_bitwise_equal_and_runs_repeat(void **state)
{
    struct hashes first = {.n = 0}, second = {.n = 0};
    struct record_end end;
    bool good = hashed_run(&first, &end);
    assert_all(good && end.weights_equal == VERDICT_TRUE);
    good = hashed_run(&second, &end);
    assert_all(good && end.weights_equal == VERDICT_TRUE);
    bool same = memcmp(first.list, second.list, STEPS * sizeof *first.list) == 0;
    bool moved = first.list[0].all != first.list[STEPS - 1].all;
    hashes_close(&first);
    hashes_close(&second);
    assert_all(same && moved);
}

/* Unsynchronised replicas are detected at the first step. */
static void diverging_replicas_are_named(void **state)
{
    option(OPT_STRATEGY, "none");
    struct hashes h = {.n = 0};
    struct record_end end;
    bool good = hashed_run(&h, &end);
    hashes_close(&h);
    if (mpi_world_ranks() == 1) {
        assert_all(good && end.weights_equal == VERDICT_TRUE);
    } else {
        assert_all(good && end.weights_equal == VERDICT_FALSE &&
                   strcmp(end.first_difference, "step 1, rank 1") == 0);
    }
}

/* Returns rank 0's initial hash and the score of the test images, on all ranks. */
static bool begin(uint64_t *hash, struct score *score, bool *alike)
{
    struct session s;
    struct class_counts classes;
    struct error e;
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    uint64_t own = trainer_hash(&s.trainer);
    *alike = is_equal_everywhere(own);
    *hash = own;
    MPI_Bcast(hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    good = trainer_evaluate(&s.trainer, &fixture.data.test, score, &classes, &e) == OK && good;
    good = good && trainer_hash(&s.trainer) == own; /* evaluation restores the weights */
    session_close(&s);
    return good;
}

/* Without broadcast ranks begin differently, as in some published programs: rank 0 is unchanged,
 * and it is evaluated. */
static void ranks_may_begin_apart(void **state)
{
    uint64_t together, apart, again;
    struct score score_together, score_apart;
    bool alike, differ;
    bool good = begin(&together, &score_together, &alike);
    assert_all(good && alike);
    option(OPT_BROADCAST_INIT, "false");
    good = begin(&apart, &score_apart, &alike);
    differ = !alike || mpi_world_ranks() == 1;
    assert_all(good && differ && apart == together);
    assert_all(score_apart.correct == score_together.correct);
    good = begin(&again, &score_apart, &alike);
    assert_all(good && again == apart);
    struct hashes h = {.n = 0};
    struct record_end end;
    good = hashed_run(&h, &end);
    hashes_close(&h);
    assert_all(good && (end.weights_equal == VERDICT_TRUE) == (mpi_world_ranks() == 1));
}

/* On one rank, `none` and allreduce compute the same bits. */
static void none_at_one_rank_is_allreduce_at_one_rank(void **state)
{
    struct session with, without;
    option(OPT_STRATEGY, "allreduce");
    bool good = session_open(&with, MPI_COMM_SELF, 1);
    option(OPT_STRATEGY, "none");
    good = session_open(&without, MPI_COMM_SELF, 1) && good;
    for (uint32_t i = 0; i < 5; i++)
        good = session_step(&with, i) && session_step(&without, i) && good;
    good = good && trainer_hash(&with.trainer) == trainer_hash(&without.trainer);
    session_close(&with);
    session_close(&without);
    assert_all(good);
}

/* Test images are labelled 0 to 9 in turn: of 37, classes 0 to 6 have four and 7 to 9 three. */
static bool classes_add_up(const struct class_counts *c, const struct score *score)
{
    uint32_t correct = 0;
    bool good = c->n == 10;
    for (int k = 0; k < c->n; k++) {
        good = good && c->of[k].samples == (k < 7 ? 4 : 3) && c->of[k].correct <= c->of[k].samples;
        correct += c->of[k].correct;
    }
    return good && correct == score->correct;
}

static void evaluation_is_sharded_and_summed_by_count(void **state)
{
    struct session all, own;
    struct score sharded, whole;
    struct class_counts shared, single;
    struct error e;
    bool good = session_open(&all, MPI_COMM_WORLD, 1) && session_open(&own, MPI_COMM_SELF, 1);
    assert_all(good);
    good = trainer_evaluate(&all.trainer, &fixture.data.test, &sharded, &shared, &e) == OK &&
           trainer_evaluate(&own.trainer, &fixture.data.test, &whole, &single, &e) == OK;
    session_close(&all);
    session_close(&own);
    good = good && sharded.samples == TEST_IMAGES && whole.samples == TEST_IMAGES;
    good = good && sharded.correct == whole.correct;
    good = good && classes_add_up(&shared, &sharded) && classes_add_up(&single, &whole);
    good = good && memcmp(shared.of, single.of, 10 * sizeof *shared.of) == 0;
    good = good && fabs(sharded.loss_sum - whole.loss_sum) <= 1e-4 * whole.loss_sum;
    assert_all(good);
}

/* Returns the rate of a step on 4 ranks with 100 steps per epoch. */
static double rate(uint64_t step)
{
    return learning_rate(&fixture.config, 4, 100, step);
}

static bool near(double found, double expected)
{
    return fabs(found - expected) <= 1e-15;
}

static void rates_follow_their_rules(void **state)
{
    option(OPT_LR, "0.1");
    assert_true(rate(1) == 0.1 && rate(1000000) == 0.1);
    option(OPT_LR_RULE, "sqrt");
    assert_true(rate(1) == 0.2);
    option(OPT_LR_RULE, "linear");
    assert_true(rate(1) == 0.4);
    option(OPT_WARMUP_STEPS, "10");
    assert_true(rate(5) == 0.4 * 5 / 10 && rate(10) == 0.4 && rate(11) == 0.4);
    option(OPT_LR_WARMUP, "log");
    option(OPT_WARMUP_STEPS, "7");
    /* Log 2 and log 4, over log 8. */
    assert_true(near(rate(1), 0.4 / 3) && near(rate(3), 0.8 / 3));
    assert_true(rate(7) == 0.4 && rate(8) == 0.4);
    option(OPT_GLOBAL_BATCH, "0");
    option(OPT_BATCH_PER_RANK, "32");
    assert_int_equal(trainer_global_batch(&fixture.config, 4), 128);
    option(OPT_ACCUMULATE, "3");
    assert_int_equal(trainer_global_batch(&fixture.config, 4), 384);
}

static void rates_follow_their_schedules(void **state)
{
    option(OPT_LR, "0.8");
    option(OPT_EPOCHS, "4");
    option(OPT_LR_SCHEDULE, "step");
    option(OPT_LR_STEP_EPOCHS, "2");
    option(OPT_LR_GAMMA, "0.25");
    assert_true(rate(1) == 0.8 && rate(200) == 0.8);
    assert_true(near(rate(201), 0.2) && near(rate(400), 0.2) && near(rate(401), 0.05));
    option(OPT_LR_SCHEDULE, "cosine");
    option(OPT_LR_MIN, "0.2");
    assert_true(near(rate(1), 0.8) && near(rate(201), 0.5) && near(rate(401), 0.2));
    assert_true(near(rate(101), 0.5 + 0.3 * sqrt(0.5)) && near(rate(9999), 0.2));
    option(OPT_WARMUP_STEPS, "100");
    assert_true(near(rate(50), 0.4) && near(rate(100), 0.8) && near(rate(101), 0.8));
    /* A half and a third of 300 steps. */
    assert_true(near(rate(251), 0.5) && near(rate(201), 0.65));
}

#define TEST(function)     cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_VGG(function) cmocka_unit_test_setup_teardown(function, setup_vgg, teardown)

int main(int argc, char **argv)
{
    int level; /* sync.overlap = thread needs MPI_THREAD_SERIALIZED */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(tuned_ranks_compute_alike),
        TEST_VGG(tuned_ranks_compute_alike),
        TEST_VGG(local_batch_norm_is_evaluated_with_statistics_of_rank_0),
        TEST(dropping_leaves_out_the_remainder),
        TEST(shares_are_uneven_by_one_at_most),
        TEST(micro_batches_make_up_a_batch),
        TEST_VGG(micro_batches_take_less_memory),
        TEST(an_epoch_uses_every_sample_once),
        TEST(replicas_are_bitwise_equal_and_runs_repeat),
        TEST(diverging_replicas_are_named),
        TEST(ranks_may_begin_apart),
        TEST(none_at_one_rank_is_allreduce_at_one_rank),
        TEST(evaluation_is_sharded_and_summed_by_count),
        TEST(rates_follow_their_rules),
        TEST(rates_follow_their_schedules),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
