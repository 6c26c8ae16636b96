/* p ranks train what one rank trains, which the first does by itself in the same process; the replicas are
 * equal to the bit.
 *
 * double: 3 */
#include "bench/workloads/train_cnn/tests/train_alone.h"
#include "kernels/base/clock.h"

/* How far two sessions are apart that started alike: of what the weights have moved by, and of what
 * the running statistics have. */
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

/* Trains as many steps on all ranks. 2 when something failed, or the replicas differ. */
static double distance_from(const struct alone *alone, int threads)
{
    struct session all;
    struct error e;
    bool good = session_open(&all, MPI_COMM_WORLD, threads);
    good = session_steps(&all, alone->steps) && good;
    good = sync_eval_begin(all.trainer.sync, &e) == OK && good; /* where replicas may differ */
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

/* Little messages, so that there are several. */
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

/* In every variant of those that come in several; the exact ones but allreduce. */
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

/* As specs name the stages: of sums after backward, and in shared memory. */
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

/* Adam, clipped by a norm over shares, of whole batches and of micro-batches, which are uneven; the net has dropout. */
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

/* Rates that go by norms of tensors, which shares cut. */
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

/* One rank computes a batch at once, p ranks their parts of it in micro-batches: 25 images of a step are
 * not divisible, and the last step of an epoch has 20. Clipped by norm, also where it is that of
 * shards. */
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

/* Adam; the mean is taken before the sum or after it. */
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

/* Padding and augmentation; an epoch of 27 images ends with a batch of two, which most ranks have no part
 * of. */
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

/* Of equal gradients Adasum is one of them: where all images are alike that is what one rank has, of shares that are
 * uneven, and of a last step of one image, too. */
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

/* A rank that trains by itself takes the mean of its own images: where all images are alike it is what one rank has,
 * however many more the others have. Of the last step's one image rank 0 has the mean, the others have none. */
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

/* The parts of four steps, in which rank 0 sleeps before it updates weights, are no longer than the steps. Each begins
 * some time after the one before, on the other ranks after half as long again. */
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

/* What a rank waits for another is communication, and no part of what it computes. */
static void waiting_is_no_part_of_backward(void **state)
{
    option(OPT_STRATEGY, "shm");
    parts_do_not_overlap(0);
}

/* A server that is ahead of the others steps when it finds their gradients, which is while its rank computes. */
static void sleeping_before_an_update_is_no_part_of_forward(void **state)
{
    option(OPT_STRATEGY, "param_server");
    option(OPT_VARIANT, "stale");
    option(OPT_sync_staleness, "4");
    parts_do_not_overlap(4000);
    option(OPT_OVERLAP, "poll_layers");
    parts_do_not_overlap(4000);
}

/* Statistics are those of a micro-batch over all ranks, also where a rank has no image in it: another
 * training than that of one rank, but one that replicas share. */
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

/* Calls and bytes of `accumulate` micro-batches, and what the formulas say of a step. */
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

/* Under every exact strategy but fusion, whose questions come as the clock has it. Stage 3 of ZeRO gathers
 * parameters for each micro-batch, as its formula says. */
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

/* Averages after every step, of a step that is linear in the gradient: momentum and decay are. */
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

/* Sums of batch norm come between messages that other ranks wait for, and between those of parameters that are
 * fetched an op ahead. */
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

/* Compressors that are told to leave nothing out. */
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

/* An epoch of 26 images ends with a batch of one, of which only rank 0 has a part; padded, the
 * other ranks compute an image that counts nothing. */
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
    int level; /* as a thread of sync.overlap wants it */
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
