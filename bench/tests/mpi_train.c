/* p ranks train what one rank trains. The sequential run is made in the same process, on a
 * communicator of its own. In double precision 20 steps agree to 1e-10; in single precision, where
 * training is chaotic, the first step's update agrees to 1e-4 and the replicas are equal to the
 * bit. */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/train_cnn/check.h"
#include "bench/workloads/train_cnn/schedule.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/rng.h"

enum { IMAGES = 120, TEST_IMAGES = 37, PIXELS_MAX = 3 * 32 * 32, STEPS = 20 };

/* Images that are noise around a pattern of their class: something to learn, nothing to download.
 */
static void draw(uint8_t *images, uint8_t *labels, uint32_t n, uint32_t pixels, uint32_t epoch)
{
    for (uint32_t i = 0; i < n; i++) {
        labels[i] = (uint8_t)(i % 10);
        for (uint32_t j = 0; j < pixels; j++) {
            uint32_t noise = rng_word(7, RNG_STREAM(RNG_DIGITS, 1), epoch, i, j) % 96;
            images[i * pixels + j] = (uint8_t)(noise + (j % 10 == labels[i] ? 150 : 0));
        }
    }
}

struct fixture {
    struct config config;
    struct net_desc desc;
    struct data_set data;
    uint8_t images[(IMAGES + TEST_IMAGES) * PIXELS_MAX], labels[IMAGES + TEST_IMAGES];
};

static struct fixture fixture;

static void option(enum option_id id, const char *text)
{
    struct error e;
    assert_int_equal(config_set(&fixture.config, option_get(id), text, (struct mark){0}, &e), OK);
}

static int setup_model(const char *model, struct shape shape)
{
    struct error e;
    struct fixture *f = &fixture;
    uint32_t pixels = (uint32_t)shape_count(shape);
    memset(f, 0, sizeof *f);
    uint8_t *test_images = f->images + IMAGES * pixels;
    draw(f->images, f->labels, IMAGES, pixels, 0);
    draw(test_images, f->labels + IMAGES, TEST_IMAGES, pixels, 1);
    f->data = (struct data_set){
        .name = "patterns",
        .source = "generated",
        .shape = shape,
        .classes = 10,
        .train = {.images = f->images, .labels = f->labels, .n = IMAGES},
        .test = {.images = test_images, .labels = f->labels + IMAGES, .n = TEST_IMAGES}};
    if (config_init(&f->config, &e) != OK || model_load(&f->desc, model, &e) != OK)
        return -1;
    option(OPT_GLOBAL_BATCH, "25");
    option(OPT_MOMENTUM, "0.5");
    option(OPT_LR, "0.01");
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return setup_model("lenet_21k", (struct shape){1, 28, 28});
}

static int setup_vgg(void **state)
{
    (void)state;
    return setup_model("vgg_mini", (struct shape){3, 32, 32});
}

static int teardown(void **state)
{
    (void)state;
    config_free(&fixture.config);
    net_desc_free(&fixture.desc);
    return 0;
}

/* A trainer on `comm`, with the waiter and pool it borrows. */
struct session {
    struct waiter waiter;
    struct pool *pool;
    struct trainer trainer;
};

static bool session_open(struct session *s, MPI_Comm comm, int threads)
{
    struct error e;
    memset(s, 0, sizeof *s);
    s->trainer = (struct trainer){.config = &fixture.config,
                                  .desc = &fixture.desc,
                                  .data = &fixture.data,
                                  .waiter = &s->waiter,
                                  .comm = comm};
    return waiter_open(&s->waiter, WAIT_YIELD, 120, comm, &e) == OK &&
           pool_create(&s->pool, threads, NULL, NULL, &e) == OK &&
           trainer_open(&s->trainer, s->pool, &e) == OK && trainer_connect(&s->trainer, &e) == OK;
}

static void session_close(struct session *s)
{
    trainer_close(&s->trainer);
    pool_destroy(s->pool);
    waiter_close(&s->waiter);
}

static bool session_step(struct session *s, uint32_t i)
{
    struct error e;
    struct step_record record;
    uint32_t steps = s->trainer.sampler.steps;
    return trainer_step(&s->trainer, i / steps, i % steps, &record, &e) == OK;
}

/* Norm of a - b over norm of b - c. */
static double relative_difference(const real *a, const real *b, const real *c, size_t n)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += ((double)b[i] - (double)c[i]) * ((double)b[i] - (double)c[i]);
    }
    return sqrt(difference / size);
}

static bool is_equal_everywhere(uint64_t hash)
{
    uint64_t least, most;
    MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
}

/* How far two sessions are apart that started alike: of what the weights have moved by, and of what
 * the running statistics have. */
static double distance_of(const struct session *all, const struct session *own,
                          const struct session *initial)
{
    const struct arenas *a = &all->trainer.sync->arenas, *b = &own->trainer.sync->arenas;
    const struct arenas *c = &initial->trainer.sync->arenas;
    double distance = relative_difference(a->params, b->params, c->params, a->n);
    if (a->n_buffers > 0 && own->trainer.exec.fixed_statistics)
        distance += memcmp(a->buffers, c->buffers, a->n_buffers * sizeof(real)) != 0;
    else if (a->n_buffers > 0)
        distance += relative_difference(a->buffers, b->buffers, c->buffers, a->n_buffers);
    return distance;
}

/* Trains `steps` steps on all ranks and again on this rank alone. 2 when something failed, or
 * the replicas differ. */
static double distance_from_sequential(int steps, int threads)
{
    struct session all, own, initial;
    bool good = session_open(&all, MPI_COMM_WORLD, threads);
    good = session_open(&own, MPI_COMM_SELF, 1) && good;
    good = session_open(&initial, MPI_COMM_SELF, 1) && good;
    for (int i = 0; i < steps; i++) {
        good = session_step(&all, (uint32_t)i) && good;
        good = session_step(&own, (uint32_t)i) && good;
    }
    struct error e;
    good = sync_eval_begin(all.trainer.sync, &e) == OK && good; /* where replicas may differ */
    double distance = distance_of(&all, &own, &initial);
    good = is_equal_everywhere(trainer_hash(&all.trainer)) && good;
    session_close(&all);
    session_close(&own);
    session_close(&initial);
    return good ? distance : 2;
}

static void expect_sequential(int threads)
{
#ifdef SCALEBENCH_F64
    double distance = distance_from_sequential(STEPS, threads), allowed = 1e-10;
#else
    double distance = distance_from_sequential(1, threads), allowed = 1e-4;
#endif
    if (distance > allowed && mpi_world_rank() == 0)
        print_error("distance %g, allowed %g\n", distance, allowed);
    assert_all(distance <= allowed);
}

static void sgd_equals_sequential(void **state)
{
    (void)state;
    expect_sequential(1);
}

static void adam_equals_sequential(void **state)
{
    (void)state;
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    expect_sequential(1);
}

static void clipped_lamb_equals_sequential(void **state)
{
    (void)state;
    option(OPT_OPTIMIZER, "lamb");
    option(OPT_LR, "0.001");
    option(OPT_CLIP_NORM, "0.5");
    option(OPT_WEIGHT_DECAY, "0.01");
    expect_sequential(2);
}

static void threads_equal_sequential(void **state)
{
    (void)state;
    expect_sequential(3);
}

/* In every form of those that come in several. */
static void every_strategy_equals_sequential(void **state)
{
    (void)state;
    const char *variants[VARIANTS];
    option(OPT_SEGMENT, "4KiB");
    option(OPT_CAP, "0.02");
    option(OPT_FIRST_CAP, "0");
    option(OPT_NODE_RANKS, "3");
    option(OPT_FUSION, "0.02");
    option(OPT_CYCLE, "0.05");
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        option(OPT_STRATEGY, strategy_names()[s]);
        size_t n = strategy_variant_list(kind, variants);
        for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
            unsigned flags = strategy_form_flags(kind, strategy_variant_find(kind, variants[i]));
            if (!(flags & STRATEGY_EXACT) || kind == STRATEGY_allreduce)
                continue;
            option(OPT_VARIANT, variants[i]);
            expect_sequential(1);
        }
    }
}

/* Averages after every step, of a step that is linear in the gradient: momentum and decay are. */
static void local_sgd_of_period_1_equals_sequential(void **state)
{
    (void)state;
    option(OPT_STRATEGY, "local_sgd");
    option(OPT_PERIOD, "1");
    option(OPT_WEIGHT_DECAY, "0.01");
    expect_sequential(1);
}

/* Adam on the server. */
static void parameter_servers_in_step_equal_sequential(void **state)
{
    (void)state;
    option(OPT_STRATEGY, "param_server");
    option(OPT_STALENESS, "0");
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    option(OPT_VARIANT, "stale");
    expect_sequential(1);
    option(OPT_VARIANT, "sync");
    expect_sequential(1);
}

/* Sums of batch norm come between messages that others ask after. */
static void every_overlap_equals_sequential(void **state)
{
    (void)state;
    option(OPT_STRATEGY, "bucketed");
    option(OPT_CAP, "0.02");
    option(OPT_FIRST_CAP, "0");
    option(OPT_BATCH_NORM, "sync");
    for (int i = OVERLAP_none + 1; i < OVERLAPS; i++) {
        if (mpi_world_ranks() > 4 && i != OVERLAP_thread)
            continue;
        option(OPT_OVERLAP, overlap_names()[i]);
        expect_sequential(1);
    }
}

/* Kernels by time: ranks may disagree about what is fastest, and rank 0 is right. */
static void tuned_ranks_compute_alike(void **state)
{
    (void)state;
    struct session s;
    struct error e;
    char kernels[KERNELS_TEXT];
    uint8_t choices[64], expected[64] = {0};
    option(OPT_TUNE, "start");
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && session_step(&s, 0);
    assert_all(good && s.trainer.desc->n_layers <= 64);
    assert_all(is_equal_everywhere(trainer_hash(&s.trainer)));
    net_kernels_text(s.trainer.net, s.trainer.desc, kernels);
    uint64_t hash = 0;
    for (const char *c = kernels; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    assert_all(is_equal_everywhere(hash));
    int n = s.trainer.desc->n_layers;
    for (int i = 0; i < n; i++) {
        choices[i] = (uint8_t)((i + mpi_world_rank()) % KERNEL_CHOICES);
        expected[i] = (uint8_t)(i % KERNEL_CHOICES);
    }
    assert_all(trainer_share_choices(&s.trainer, choices, &e) == OK &&
               memcmp(choices, expected, (size_t)n) == 0);
    session_close(&s);
}

/* Compressors that are told to leave nothing out. */
static void compressors_without_loss_equal_sequential(void **state)
{
    (void)state;
    option(OPT_COMPRESS, "topk");
    option(OPT_TOPK, "100%");
    expect_sequential(1);
    option(OPT_COMPRESS, "powersgd");
    option(OPT_POWERSGD_RANK, "65536");
    expect_sequential(1);
    option(OPT_STRATEGY, "allreduce_layer");
    expect_sequential(1);
}

static void padding_equals_sequential(void **state)
{
    (void)state;
    option(OPT_REMAINDER, "pad");
    expect_sequential(1);
}

static void sync_batch_norm_and_augmentation_equal_sequential(void **state)
{
    (void)state;
    option(OPT_BATCH_NORM, "sync");
    option(OPT_AUGMENT, "crop_flip");
    expect_sequential(2);
}

static void frozen_batch_norm_equals_sequential(void **state)
{
    (void)state;
    option(OPT_BATCH_NORM, "frozen");
    expect_sequential(1);
}

/* An epoch of 26 images ends with a batch of one, of which only rank 0 has a part; padded, the
 * other ranks compute an image that counts nothing. */
static void sync_batch_norm_takes_ranks_without_images(void **state)
{
    (void)state;
    option(OPT_BATCH_NORM, "sync");
    option(OPT_DATA_SAMPLES, "26");
    static const char *const remainders[] = {"uneven", "pad"};
    for (int i = 0; i < 2; i++) {
        option(OPT_REMAINDER, remainders[i]);
        double allowed = sizeof(real) == 8 ? 1e-10 : 1e-4;
        double distance = distance_from_sequential(2, 1);
        if (distance > allowed && mpi_world_rank() == 0)
            print_error("%s: distance %g\n", remainders[i], distance);
        assert_all(distance <= allowed);
    }
}

/* Replicas' own statistics differ until an evaluation, which is of one model. */
static void local_batch_norm_is_evaluated_with_statistics_of_rank_0(void **state)
{
    (void)state;
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
    MPI_Bcast(root, (int)n, MPI_REAL_TYPE, 0, MPI_COMM_WORLD);
    bool differs = memcmp(root, s.trainer.sync->arenas.buffers, n * sizeof *root) != 0;
    good = trainer_evaluate(&s.trainer, &fixture.data.test, &score, &classes, &e) == OK && good;
    bool same = memcmp(root, s.trainer.sync->arenas.buffers, n * sizeof *root) == 0;
    bool unmoved = trainer_hash(&s.trainer) == hash; /* it is of the parameters */
    free(root);
    session_close(&s);
    assert_all(good && same && unmoved && differs == (mpi_world_rank() > 0));
}

/* What is dropped is the rest of the division: one rank on a batch that the ranks divide sees the
 * same, as long as the slices of the epoch begin at the same places. */
static void dropping_leaves_out_the_remainder(void **state)
{
    (void)state;
    option(OPT_REMAINDER, "drop");
    struct session s;
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    uint32_t ranks = (uint32_t)mpi_world_ranks();
    struct batch batch = sampler_get(&s.trainer.sampler, 0, 0);
    bool good = batch.n == 25 / ranks && batch.global == 25 - 25 % ranks;
    session_close(&s);
    assert_all(good);
}

static void shares_are_uneven_by_one_at_most(void **state)
{
    (void)state;
    struct session s;
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    uint32_t ranks = (uint32_t)mpi_world_ranks(), rank = (uint32_t)mpi_world_rank();
    struct batch batch = sampler_get(&s.trainer.sampler, 0, 0);
    bool good = batch.global == 25 && batch.n == 25 / ranks + (rank < 25 % ranks);
    session_close(&s);
    assert_all(good);
}

/* Every sample of an epoch is used exactly once, over all ranks. */
static void an_epoch_uses_every_sample_once(void **state)
{
    (void)state;
    struct session s;
    int used[IMAGES] = {0}, total[IMAGES];
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    for (uint32_t step = 0; step < s.trainer.sampler.steps; step++) {
        struct batch batch = sampler_get(&s.trainer.sampler, 3, step);
        for (uint32_t i = 0; i < batch.n; i++)
            used[batch.samples[i]]++;
    }
    session_close(&s);
    MPI_Allreduce(used, total, IMAGES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    bool good = true;
    for (int i = 0; i < IMAGES; i++)
        good = good && total[i] == 1;
    assert_all(good);
}

/* Runs STEPS steps on all ranks and keeps the hash of each. */
static bool hashed_run(struct hashes *h, struct comparison *c)
{
    struct session s;
    struct error e;
    bool good = session_open(&s, MPI_COMM_WORLD, 2) && hashes_open(h, STEPS, &e) == OK;
    for (uint32_t i = 0; i < STEPS; i++) {
        good = session_step(&s, i) && good;
        hashes_add(h, &s.trainer);
    }
    good = hashes_compare(h, &s.trainer, c, &e) == OK && good;
    session_close(&s);
    return good;
}

static void replicas_are_bitwise_equal_and_runs_repeat(void **state)
{
    (void)state;
    struct hashes first, second;
    struct comparison comparison;
    bool good = hashed_run(&first, &comparison);
    assert_all(good && comparison.equal);
    good = hashed_run(&second, &comparison);
    assert_all(good && comparison.equal);
    bool same = memcmp(first.values, second.values, STEPS * sizeof *first.values) == 0;
    bool moved = first.values[0] != first.values[STEPS - 1];
    hashes_close(&first);
    hashes_close(&second);
    assert_all(same && moved);
}

/* The check itself: replicas that are left to themselves are found out, at the first step. */
static void diverging_replicas_are_named(void **state)
{
    (void)state;
    option(OPT_STRATEGY, "none");
    struct hashes h;
    struct comparison comparison;
    bool good = hashed_run(&h, &comparison);
    hashes_close(&h);
    if (mpi_world_ranks() == 1) {
        assert_all(good && comparison.equal);
    } else {
        assert_all(good && !comparison.equal &&
                   strcmp(comparison.first_difference, "step 1, rank 1") == 0);
    }
}

/* One rank: the serial baseline and the synchronised code compute the same bits. */
static void none_at_one_rank_is_allreduce_at_one_rank(void **state)
{
    (void)state;
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

/* Test images are labelled 0 to 9 in turn: 37 are four each of 0 to 6 and three each of 7 to 9. */
static bool classes_add_up(const struct class_counts *c, const struct score *score)
{
    uint32_t correct = 0;
    bool good = c->n == 10;
    for (int k = 0; k < c->n; k++) {
        good = good && c->samples[k] == (k < 7 ? 4 : 3) && c->correct[k] <= c->samples[k];
        correct += c->correct[k];
    }
    return good && correct == score->correct;
}

static void evaluation_is_sharded_and_summed_by_count(void **state)
{
    (void)state;
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
    good = good && memcmp(shared.correct, single.correct, 10 * sizeof *shared.correct) == 0;
    good = good && fabs(sharded.loss_sum - whole.loss_sum) <= 1e-4 * whole.loss_sum;
    assert_all(good);
}

/* Rate of a step on 4 ranks, 100 steps an epoch. */
static double rate(uint64_t step)
{
    return schedule_lr(&fixture.config, 4, 100, step);
}

static bool near(double found, double expected)
{
    return fabs(found - expected) <= 1e-15;
}

static void rates_follow_their_rules(void **state)
{
    (void)state;
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
    assert_true(near(rate(1), 0.4 / 3) && near(rate(3), 0.8 / 3)); /* log 2, 4 of log 8 */
    assert_true(rate(7) == 0.4 && rate(8) == 0.4);
    option(OPT_GLOBAL_BATCH, "0");
    option(OPT_BATCH_PER_RANK, "32");
    assert_int_equal(trainer_global_batch(&fixture.config, 4), 128);
}

static void rates_follow_their_schedules(void **state)
{
    (void)state;
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
    assert_true(near(rate(251), 0.5) && near(rate(201), 0.65)); /* a half, a third of 300 steps */
}

#define TEST(function)     cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_VGG(function) cmocka_unit_test_setup_teardown(function, setup_vgg, teardown)

int main(int argc, char **argv)
{
    int level; /* as a thread of sync.overlap wants it */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(sgd_equals_sequential),
        TEST(adam_equals_sequential),
        TEST(clipped_lamb_equals_sequential),
        TEST(threads_equal_sequential),
        TEST(every_strategy_equals_sequential),
        TEST(local_sgd_of_period_1_equals_sequential),
        TEST(parameter_servers_in_step_equal_sequential),
        TEST(compressors_without_loss_equal_sequential),
        TEST(padding_equals_sequential),
        TEST(tuned_ranks_compute_alike),
        TEST_VGG(tuned_ranks_compute_alike),
        TEST_VGG(every_overlap_equals_sequential),
        TEST_VGG(sync_batch_norm_and_augmentation_equal_sequential),
        TEST_VGG(frozen_batch_norm_equals_sequential),
        TEST_VGG(sync_batch_norm_takes_ranks_without_images),
        TEST_VGG(local_batch_norm_is_evaluated_with_statistics_of_rank_0),
        TEST(dropping_leaves_out_the_remainder),
        TEST(shares_are_uneven_by_one_at_most),
        TEST(an_epoch_uses_every_sample_once),
        TEST(replicas_are_bitwise_equal_and_runs_repeat),
        TEST(diverging_replicas_are_named),
        TEST(none_at_one_rank_is_allreduce_at_one_rank),
        TEST(evaluation_is_sharded_and_summed_by_count),
        TEST(rates_follow_their_rules),
        TEST(rates_follow_their_schedules),
    };
    int failed = mpi_run_tests(tests);
    MPI_Finalize();
    return failed;
}
