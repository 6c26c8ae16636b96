/* p ranks train like one rank, which rank 0 runs in the same process; replicas are equal bit for
 * bit.
 *
 * double: 3 */
#include "bench/workloads/train_cnn/tests/train_alone.h"
#include "kernels/base/clock.h"

/* Returns the distance of two sessions with the same start, relative to the movement of weights and
 * of running statistics. */
static double distance_of(const struct session *all, const struct session *own,
                          const struct session *initial)
{
    const struct arenas *a = arenas_of(all), *b = arenas_of(own), *c = arenas_of(initial);
    double distance = relative_difference(a->params, b->params, c->params, a->n);
    if (a->n_buffers > 0 && own->trainer.model.exec.fixed_statistics)
        distance += memcmp(a->buffers, c->buffers, a->n_buffers * sizeof(real)) != 0;
    else if (a->n_buffers > 0)
        distance += relative_difference(a->buffers, b->buffers, c->buffers, a->n_buffers);
    return distance;
}

/* Trains the same number of steps on all ranks and returns the distance; 2 on failure or if
 * replicas differ. */
static double distance_from(const struct alone *alone, int threads)
{
    struct session all;
    struct error e;
    bool good = session_open(&all, MPI_COMM_WORLD, threads);
    good = session_steps(&all, alone->steps) && good;
    /* Merges replicas that may differ. */
    good = sync_eval_begin(all.trainer.sync, &e) == OK && good;
    double distance = distance_of(&all, &alone->trained, &alone->initial);
    good = is_equal_everywhere(trainer_hash(&all.trainer)) && good;
    session_close(&all);
    return good ? distance : 2;
}

static void expect_same(const struct alone *alone, int threads)
{
    expect_allowed(distance_from(alone, threads), 1);
}

static void expect_sequential(int threads)
{
    struct alone alone;
    assert_all(train_alone(&alone, STEPS));
    expect_same(&alone, threads);
    alone_close(&alone);
}

static void sgd_equals_sequential(void **state)
{
    expect_sequential(1);
}

static void adam_equals_sequential(void **state)
{
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    expect_sequential(1);
}

static void clipped_lamb_equals_sequential(void **state)
{
    option(OPT_OPTIMIZER, "lamb");
    option(OPT_LR, "0.001");
    option(OPT_CLIP_NORM, "0.5");
    option(OPT_WEIGHT_DECAY, "0.01");
    expect_sequential(2);
}

static void threads_equal_sequential(void **state)
{
    expect_sequential(3);
}

/* Makes messages short, so that there are several. */
static void cut_messages(void)
{
    option(OPT_sync_segment, "4KiB");
    option(OPT_sync_cap_mib, "0.02");
    option(OPT_sync_first_cap_mib, "0");
    option(OPT_sync_node_ranks, "3");
    option(OPT_sync_fusion_mib, "0.02");
    option(OPT_sync_cycle_ms, "0.05");
    option(OPT_sync_zero_persist, "1000");
}

/* Tests every exact strategy but allreduce, in every variant. */
static void expect_every_strategy(const struct alone *alone)
{
    const char *variants[VARIANTS];
    cut_messages();
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        option(OPT_STRATEGY, strategy_names()[s]);
        size_t n = strategy_variant_list(kind, variants);
        for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
            unsigned flags = strategy_config_flags(kind, strategy_variant_find(kind, variants[i]));
            if (!(flags & STRATEGY_EXACT) || kind == STRATEGY_allreduce)
                continue;
            option(OPT_VARIANT, variants[i]);
            expect_same(alone, 1);
        }
    }
}

static void every_strategy_equals_sequential(void **state)
{
    struct alone alone;
    assert_all(train_alone(&alone, STEPS));
    expect_every_strategy(&alone);
    alone_close(&alone);
}

/* Tests all ZeRO stages, with sums after backward and in shared memory. */
static void expect_every_stage(const struct alone *alone)
{
    static const char *const stages[] = {"0", "1", "2", "3"};
    cut_messages();
    for (int stage = 0; stage <= 3; stage++) {
        option(OPT_sync_zero, stages[stage]);
        expect_same(alone, 1);
    }
    option(OPT_STRATEGY, "shm");
    for (int stage = 1; stage <= 3; stage++) {
        option(OPT_sync_zero, stages[stage]);
        expect_same(alone, 1);
    }
    option(OPT_STRATEGY, "allreduce");
}

/* Adam with clipping by a norm over shards, whole batches and uneven micro-batches; the net has
 * dropout. */
static void zero_stages_equal_sequential(void **state)
{
    struct alone alone;
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    option(OPT_CLIP_NORM, "0.5");
    assert_all(train_alone(&alone, STEPS));
    expect_every_stage(&alone);
    option(OPT_ACCUMULATE, "3");
    expect_every_stage(&alone);
    alone_close(&alone);
}

/* These optimizers use norms of tensors, which shards cut. */
static void norms_over_shares_equal_sequential(void **state)
{
    const char *const optimizers[] = {"lars", "lamb"}, *const stages[] = {"1", "2", "3"};
    option(OPT_LR, "0.001");
    option(OPT_WEIGHT_DECAY, "0.01");
    cut_messages();
    for (int k = 0; k < 2; k++) {
        struct alone alone;
        option(OPT_OPTIMIZER, optimizers[k]);
        option(OPT_sync_zero, "0");
        assert_all(train_alone(&alone, STEPS));
        for (int stage = 0; stage < 3; stage++) {
            option(OPT_sync_zero, stages[stage]);
            expect_same(&alone, 1);
        }
        alone_close(&alone);
    }
}

/* One rank computes a whole batch, p ranks their parts in micro-batches. 25 images per step and 20
 * in the last are not divisible. Gradients are clipped by norm, also over shards. */
static void accumulation_equals_sequential(void **state)
{
    struct alone alone;
    option(OPT_CLIP_NORM, "0.5");
    assert_all(train_alone(&alone, STEPS));
    option(OPT_ACCUMULATE, "3");
    expect_same(&alone, 2);
    expect_every_strategy(&alone);
    alone_close(&alone);
}

/* Adam; the mean is taken before or after the sum. */
static void scaled_accumulation_equals_sequential(void **state)
{
    struct alone alone;
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    option(OPT_CLIP_VALUE, "0.01");
    assert_all(train_alone(&alone, STEPS));
    option(OPT_ACCUMULATE, "2");
    option(OPT_SCALE, "pre");
    expect_same(&alone, 1);
    option(OPT_SCALE, "post");
    expect_same(&alone, 1);
    expect_every_strategy(&alone);
    alone_close(&alone);
}

/* With padding and augmentation. An epoch of 27 images ends with two, so most ranks have none. */
static void accumulation_takes_ragged_batches(void **state)
{
    static const char *const remainders[] = {"uneven", "pad"};
    option(OPT_AUGMENT, "crop_flip");
    option(OPT_BATCH_NORM, "frozen");
    option(OPT_DATA_SAMPLES, "27");
    for (int i = 0; i < 2; i++) {
        struct alone alone;
        option(OPT_REMAINDER, remainders[i]);
        option(OPT_ACCUMULATE, "1");
        assert_all(train_alone(&alone, 2));
        option(OPT_ACCUMULATE, "4");
        expect_same(&alone, 1);
        alone_close(&alone);
    }
}

static int setup_softmax(void **state)
{
    return setup_model("softmax_784", (struct shape){1, 28, 28});
}

/* Adasum of equal gradients is one of them. With equal images it must match one rank, also with
 * uneven parts and a last step of one image. */
static void adasum_of_equal_images_equals_sequential(void **state)
{
    static const char *const remainders[] = {"uneven", "pad"};
    size_t pixels = shape_count(fixture.data.shape);
    for (size_t i = 1; i < IMAGES; i++) {
        memcpy(fixture.images + i * pixels, fixture.images, pixels);
        fixture.labels[i] = fixture.labels[0];
    }
    option(OPT_STRATEGY, "adasum");
    option(OPT_DATA_SAMPLES, "26");
    for (int i = 0; i < 4; i++) {
        struct alone alone;
        option(OPT_REMAINDER, remainders[i % 2]);
        option(OPT_ACCUMULATE, "1");
        assert_all(train_alone(&alone, 2));
        option(OPT_ACCUMULATE, i < 2 ? "1" : "3");
        expect_same(&alone, 1);
        alone_close(&alone);
    }
}

/* A rank that steps alone uses the mean over its own images. With equal images that matches one
 * rank. In the last step of one image, rank 0 has its mean and the others have none. */
static void ranks_by_themselves_take_their_own_mean(void **state)
{
    struct alone alone;
    struct session own;
    size_t pixels = shape_count(fixture.data.shape);
    for (size_t i = 1; i < IMAGES; i++) {
        memcpy(fixture.images + i * pixels, fixture.images, pixels);
        fixture.labels[i] = fixture.labels[0];
    }
    option(OPT_STRATEGY, "none");
    option(OPT_MOMENTUM, "0");
    option(OPT_DATA_SAMPLES, "26");
    for (int steps = 1; steps <= 2; steps++) {
        assert_all(train_alone(&alone, steps));
        bool good = session_open(&own, MPI_COMM_WORLD, 1) && session_steps(&own, steps);
        double distance = distance_of(&own, &alone.trained, &alone.initial);
        session_close(&own);
        alone_close(&alone);
        assert_all(good && (distance <= ALLOWED || (steps == 2 && mpi_world_rank() > 0)));
    }
}

/* The parts of four steps, with rank 0 sleeping before updates, are no longer than the steps. Steps
 * begin `apart_us` apart, half as much more on other ranks. */
static void parts_do_not_overlap(useconds_t apart_us)
{
    struct session s;
    struct error e;
    struct step_record record;
    int64_t parts = 0, all = 0;
    option(OPT_INJECT_KIND, "fixed");
    option(OPT_INJECT_SLEEP, "5ms");
    option(OPT_INJECT_PHASE, "update");
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    for (uint32_t i = 0; i < 4; i++) {
        usleep(mpi_world_rank() > 0 ? apart_us * 3 / 2 : apart_us);
        int64_t begin_ns = clock_ns();
        good = trainer_step(&s.trainer, 0, i, &record, &e) == OK && good;
        all += clock_ns() - begin_ns;
        parts += record.line.load_ns + record.line.forward_ns + record.line.backward_ns +
                 record.line.inject_ns + record.line.pack_ns + record.line.comm_exposed_ns +
                 record.line.optimizer_ns;
    }
    session_close(&s);
    assert_all(good);
    assert_all(parts <= all);
}

/* Waiting for another rank is communication, not computing. */
static void waiting_is_no_part_of_backward(void **state)
{
    option(OPT_STRATEGY, "shm");
    parts_do_not_overlap(0);
}

/* A server that is ahead of others updates when it finds their gradients, while its rank
 * computes. */
static void sleeping_before_an_update_is_no_part_of_forward(void **state)
{
    option(OPT_STRATEGY, "param_server");
    option(OPT_VARIANT, "stale");
    option(OPT_sync_staleness, "4");
    parts_do_not_overlap(4000);
    option(OPT_OVERLAP, "poll_layers");
    parts_do_not_overlap(4000);
}

/* Statistics are taken over all ranks per micro-batch, also if a rank has no image. Results differ
 * from one rank's, but replicas are equal. */
static void sync_batch_norm_takes_micro_batches(void **state)
{
    struct session s;
    struct error e;
    option(OPT_BATCH_NORM, "sync");
    option(OPT_DATA_SAMPLES, "27");
    option(OPT_ACCUMULATE, "4");
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    good = session_step(&s, 0) && session_step(&s, 1) && good;
    good = is_equal_everywhere(trainer_hash(&s.trainer)) && good;
    good = good && s.trainer.batches_tracked > 4 && group_check(&s.trainer.group, &e) == OK;
    session_close(&s);
    assert_all(good);
}

/* Counts calls and bytes with `accumulate` micro-batches, and compares with the formulas of a
 * step. */
static bool sends_as_a_step(const char *accumulate, uint64_t sent[2])
{
    struct session s;
    option(OPT_ACCUMULATE, accumulate);
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    const struct waiter before = *s.trainer.job.waiter, *w = s.trainer.job.waiter;
    for (uint32_t i = 0; i < 2; i++)
        good = session_step(&s, i) && good;
    sent[0] = w->calls - before.calls;
    sent[1] = w->bytes_payload - before.bytes_payload;
    const struct cost cost = sync_cost(s.trainer.sync);
    good = good && sent[0] == 2 * cost.calls && sent[1] == 2 * cost.bytes_payload;
    session_close(&s);
    return good;
}

/* Tests every exact strategy but fusion, whose requests depend on timing. ZeRO stage 3 gathers
 * parameters for each micro-batch, as in its formula. */
static void a_step_is_sent_once(void **state)
{
    cut_messages();
    for (int s = 0; s < STRATEGIES; s++) {
        uint64_t once[2], accumulated[2];
        if (!(strategy_flags((enum strategy_kind)s) & STRATEGY_EXACT) || s == STRATEGY_fusion)
            continue;
        option(OPT_STRATEGY, strategy_names()[s]);
        bool good = sends_as_a_step("1", once);
        assert_all(sends_as_a_step("3", accumulated) && good);
        bool gathers = s == STRATEGY_zero3 && mpi_world_ranks() > 1;
        assert_all((memcmp(once, accumulated, sizeof once) == 0) != gathers);
    }
}

/* Averages after every step. Equal because the update is linear in the gradient, even with momentum
 * and decay. */
static void local_sgd_of_period_1_equals_sequential(void **state)
{
    option(OPT_STRATEGY, "local_sgd");
    option(OPT_sync_period, "1");
    option(OPT_WEIGHT_DECAY, "0.01");
    expect_sequential(1);
}

/* Adam on the server. */
static void parameter_servers_in_step_equal_sequential(void **state)
{
    struct alone alone;
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    assert_all(train_alone(&alone, STEPS));
    option(OPT_STRATEGY, "param_server");
    option(OPT_sync_staleness, "0");
    option(OPT_VARIANT, "stale");
    expect_same(&alone, 1);
    option(OPT_VARIANT, "sync");
    expect_same(&alone, 1);
    alone_close(&alone);
}

/* Sums of batch norm come between messages that other ranks wait for, and between prefetches of
 * parameters. */
static void every_overlap_equals_sequential(void **state)
{
    static const char *const strategies[] = {"bucketed", "zero2", "zero3"};
    struct alone alone;
    option(OPT_BATCH_NORM, "sync");
    assert_all(train_alone(&alone, STEPS));
    cut_messages();
    for (int s = 0; s < 3; s++) {
        option(OPT_STRATEGY, strategies[s]);
        for (int i = OVERLAP_none + 1; i < OVERLAPS; i++) {
            bool asked = s == 0 || i == (s == 1 ? OVERLAP_poll_tiles : OVERLAP_thread);
            if (!asked || (mpi_world_ranks() > 4 && i != OVERLAP_thread))
                continue;
            option(OPT_OVERLAP, overlap_names()[i]);
            expect_same(&alone, 1);
        }
    }
    alone_close(&alone);
}

/* Compressors with options that lose nothing. */
static void compressors_without_loss_equal_sequential(void **state)
{
    struct alone alone;
    assert_all(train_alone(&alone, STEPS));
    option(OPT_COMPRESS, "topk");
    option(OPT_sync_topk, "100%");
    expect_same(&alone, 1);
    option(OPT_COMPRESS, "powersgd");
    option(OPT_sync_rank, "65536");
    expect_same(&alone, 1);
    option(OPT_STRATEGY, "allreduce_layer");
    expect_same(&alone, 1);
    option(OPT_STRATEGY, "bucketed");
    option(OPT_sync_cap_mib, "0.02");
    option(OPT_ACCUMULATE, "2");
    expect_same(&alone, 1);
    alone_close(&alone);
}

static void padding_equals_sequential(void **state)
{
    option(OPT_REMAINDER, "pad");
    expect_sequential(1);
}

static void sync_batch_norm_and_augmentation_equal_sequential(void **state)
{
    option(OPT_BATCH_NORM, "sync");
    option(OPT_AUGMENT, "crop_flip");
    expect_sequential(2);
}

static void frozen_batch_norm_equals_sequential(void **state)
{
    option(OPT_BATCH_NORM, "frozen");
    expect_sequential(1);
}

/* An epoch of 26 images ends with one, which only rank 0 has; with padding, other ranks compute an
 * image of weight 0. */
static void sync_batch_norm_takes_ranks_without_images(void **state)
{
    option(OPT_BATCH_NORM, "sync");
    option(OPT_DATA_SAMPLES, "26");
    static const char *const remainders[] = {"uneven", "pad"};
    for (int i = 0; i < 2; i++) {
        option(OPT_REMAINDER, remainders[i]);
        struct alone alone;
        assert_all(train_alone(&alone, 2));
        expect_same(&alone, 1);
        alone_close(&alone);
    }
}

#define TEST(function)         cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_VGG(function)     cmocka_unit_test_setup_teardown(function, setup_vgg, teardown)
#define TEST_SOFTMAX(function) cmocka_unit_test_setup_teardown(function, setup_softmax, teardown)

int main(int argc, char **argv)
{
    int level; /* sync.overlap = thread needs MPI_THREAD_SERIALIZED */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(sgd_equals_sequential),
        TEST(adam_equals_sequential),
        TEST(clipped_lamb_equals_sequential),
        TEST(threads_equal_sequential),
        TEST(every_strategy_equals_sequential),
        TEST(zero_stages_equal_sequential),
        TEST(norms_over_shares_equal_sequential),
        TEST(accumulation_equals_sequential),
        TEST(scaled_accumulation_equals_sequential),
        TEST(a_step_is_sent_once),
        TEST_SOFTMAX(adasum_of_equal_images_equals_sequential),
        TEST_SOFTMAX(ranks_by_themselves_take_their_own_mean),
        TEST(waiting_is_no_part_of_backward),
        TEST(sleeping_before_an_update_is_no_part_of_forward),
        TEST(local_sgd_of_period_1_equals_sequential),
        TEST(parameter_servers_in_step_equal_sequential),
        TEST(compressors_without_loss_equal_sequential),
        TEST(padding_equals_sequential),
        TEST_VGG(every_overlap_equals_sequential),
        TEST_VGG(sync_batch_norm_and_augmentation_equal_sequential),
        TEST_VGG(frozen_batch_norm_equals_sequential),
        TEST_VGG(sync_batch_norm_takes_ranks_without_images),
        TEST_VGG(accumulation_takes_ragged_batches),
        TEST_VGG(sync_batch_norm_takes_micro_batches),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
