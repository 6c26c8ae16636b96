/* A net cut into stages trains like the whole net: bit for bit with one rank per stage and equal
 * micro-batches, up to rounding with more ranks per stage. Memory and messages match the formulas.
 * double: 2 3 4 */
#include "bench/workloads/train_cnn/tests/train_alone.h"

#include "comm/tests/mpi_held.h"

/* lenet_21k and vgg_mini have at least four layers with parameters. */
enum { STAGES_MOST = 4 };

static void set_stages(int stages)
{
    char text[16];
    snprintf(text, sizeof text, "%d", stages);
    option(OPT_PIPELINE, text);
}

/* The fast plan fuses both convolutions of lenet_21k, which leaves three stages at most. */
static int setup_small(void **state)
{
    int status = setup(state);
    if (mpi_world_ranks() == STAGES_MOST)
        option(OPT_KERNELS, "exact");
    return status;
}

/* Returns whether these ranks can be divided into `stages` stages. */
static bool fits(int stages)
{
    return mpi_world_ranks() % stages == 0;
}

/* ---- Comparing ---- */

static const real *whole_at(const struct session *pipe, const real *arena)
{
    const struct stage *s = &pipe->trainer.model.stage;
    return arena + fixture.desc.tensors[s->tensors.first].offset;
}

/* Compares running statistics of the stage's layers. */
static bool same_buffers(const struct session *pipe, const struct session *own)
{
    const struct trainer *t = &pipe->trainer;
    int first = net_op_view(t->model.net, 0, t->model.stage.first).first_layer;
    int last = net_op_view(t->model.net, 0, t->model.stage.last - 1).last_layer;
    for (int i = 0; i < fixture.desc.n_buffers; i++) {
        const struct tensor_desc *b = &fixture.desc.buffers[i];
        if (b->layer >= first && b->layer < last &&
            memcmp(arenas_of(pipe)->buffers + b->offset, arenas_of(own)->buffers + b->offset,
                   b->count * sizeof(real)) != 0)
            return false;
    }
    return true;
}

/* Compares weights, optimizer state and statistics. */
static bool same_bits(const struct session *pipe, const struct session *own)
{
    const struct arenas *a = arenas_of(pipe), *b = arenas_of(own);
    bool same = memcmp(a->params, whole_at(pipe, b->params), a->n * sizeof(real)) == 0;
    for (int k = 0; k < a->slots; k++)
        same =
            same && memcmp(a->state + (size_t)k * a->n, whole_at(pipe, b->state + (size_t)k * b->n),
                           a->n * sizeof(real)) == 0;
    return same && same_buffers(pipe, own);
}

static double distance_of(const struct session *pipe, const struct session *own,
                          const struct session *initial)
{
    const struct arenas *a = arenas_of(pipe);
    return relative_difference(a->params, whole_at(pipe, arenas_of(own)->params),
                               whole_at(pipe, arenas_of(initial)->params), a->n);
}

/* ---- Equal training ---- */

/* Compares one stage per rank with a single rank. The last batch of an epoch is smaller and has
 * fewer micro-batches. */
static void expect_same_bits(int threads)
{
    enum { MORE_STEPS = 7 };
    struct session own, pipe;
    set_stages(1);
    bool good = session_open(&own, MPI_COMM_SELF, threads);
    good = take_steps_once(&own, good, MORE_STEPS);
    assert_all(good);
    set_stages(mpi_world_ranks());
    for (int schedule = 0; schedule < PIPELINE_SCHEDULES; schedule++) {
        option(OPT_PIPELINE_SCHEDULE, names_pipeline_schedules->names[schedule]);
        good = session_open(&pipe, MPI_COMM_WORLD, threads) && session_steps(&pipe, MORE_STEPS);
        bool same = good && same_bits(&pipe, &own);
        session_close(&pipe);
        assert_all(good && same);
    }
    session_close(&own);
}

static void stages_compute_the_bits_of_accumulation(void **state)
{
    if (mpi_world_ranks() > STAGES_MOST)
        return;
    option(OPT_ACCUMULATE, "5");
    option(OPT_REMAINDER, "pad");
    expect_same_bits(1);
    option(OPT_OPTIMIZER, "adam");
    option(OPT_PIPELINE_CUT, "flops");
    option(OPT_ACCUMULATE, "2");
    expect_same_bits(2);
}

/* Batch norm uses micro-batches on both sides; augmented images are kept until backward. */
static void stages_of_a_net_with_batch_norm_compute_the_same_bits(void **state)
{
    if (mpi_world_ranks() > STAGES_MOST)
        return;
    option(OPT_ACCUMULATE, "4");
    option(OPT_AUGMENT, "crop_flip");
    expect_same_bits(1);
    option(OPT_KERNELS, "reference");
    option(OPT_PIPELINE_CUT, "flops");
    expect_same_bits(1);
}

/* Trains on one rank without micro-batches. */
static bool train_whole(struct alone *a)
{
    set_stages(1);
    option(OPT_ACCUMULATE, "1");
    option(OPT_STRATEGY, "allreduce");
    return train_alone(a, STEPS);
}

static void expect_near(const struct alone *alone, int stages, const char *micros)
{
    struct session pipe;
    set_stages(stages);
    option(OPT_ACCUMULATE, micros);
    bool good = session_open(&pipe, MPI_COMM_WORLD, 1) && session_steps(&pipe, STEPS);
    double distance = good ? distance_of(&pipe, &alone->trained, &alone->initial) : 2;
    session_close(&pipe);
    expect_allowed(distance, stages);
}

/* Tests all numbers of stages that fit these ranks. */
static void expect_sequential(const char *micros)
{
    struct alone alone;
    assert_all(train_whole(&alone));
    for (int stages = 2; stages <= STAGES_MOST; stages++)
        if (fits(stages))
            expect_near(&alone, stages, micros);
    alone_close(&alone);
}

/* 25 images per step, 20 in the last, are not divisible by replicas or micro-batches. */
static void sgd_equals_sequential(void **state)
{
    expect_sequential("3");
}

static void adam_by_gpipe_equals_sequential(void **state)
{
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    option(OPT_PIPELINE_SCHEDULE, "gpipe");
    expect_sequential("4");
}

/* Clipping uses the norm over all stages; LAMB uses norms of tensors. */
static void clipped_lamb_equals_sequential(void **state)
{
    option(OPT_OPTIMIZER, "lamb");
    option(OPT_LR, "0.001");
    option(OPT_CLIP_NORM, "0.5");
    option(OPT_WEIGHT_DECAY, "0.01");
    expect_sequential("2");
}

/* Any exact strategy can sum the gradients of a stage, here with two ranks per stage. */
static void every_strategy_sums_a_stage(void **state)
{
    struct alone alone;
    if (mpi_world_ranks() != 4)
        return;
    assert_all(train_whole(&alone));
    option(OPT_sync_segment, "4KiB");
    option(OPT_sync_cap_mib, "0.02");
    for (int s = 0; s < STRATEGIES; s++) {
        unsigned flags = strategy_flags((enum strategy_kind)s);
        if (!(flags & STRATEGY_EXACT) || (flags & STRATEGY_OWNS_OPTIMIZER))
            continue;
        option(OPT_STRATEGY, strategy_names()[s]);
        expect_near(&alone, 2, "3");
    }
    option(OPT_STRATEGY, "bucketed");
    option(OPT_OVERLAP, "poll_tiles");
    expect_near(&alone, 2, "3");
    alone_close(&alone);
}

/* Batch-norm statistics over the ranks of a stage equal one rank's over the whole micro-batch.
 * Padding would put other images into each of three micro-batches, so there is one. */
static void stages_share_batch_norm(void **state)
{
    option(OPT_BATCH_NORM, "sync");
    expect_sequential("1");
}

/* ---- Evaluation ---- */

static void stages_evaluate_as_one_rank(void **state)
{
    option(OPT_ACCUMULATE, "3");
    for (int stages = 2; stages <= STAGES_MOST; stages++)
        if (fits(stages))
            expect_same_evaluation(set_stages, stages);
}

/* ---- Memory and messages ---- */

/* Uses a step of 24 images in six micro-batches. */
static void expect_formulas(enum pipeline_schedule schedule, int stages)
{
    enum { MICROS = 6 };
    struct session s;
    struct error e;
    struct step_record record;
    set_stages(stages);
    option(OPT_PIPELINE_SCHEDULE, names_pipeline_schedules->names[schedule]);
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    const struct trainer *t = &s.trainer;
    good = trainer_step(&s.trainer, 0, 0, &record, &e) == OK && good;
    size_t in =
        t->job.grid.stage > 0 ? net_activation_reals(t->model.net, t->model.stage.first, 1) : 0;
    size_t out = t->model.stage.last < net_ops(t->model.net)
                     ? net_activation_reals(t->model.net, t->model.stage.last, 1)
                     : 0;
    const struct pipeline_traffic sent =
        pipeline_traffic(in, out, MICROS, 24 / (uint64_t)t->job.grid.replicas, sizeof(real));
    int kept = pipeline_kept(schedule, t->job.grid.stage, stages, MICROS);
    good = good && t->model.stage.messages_sent == sent.messages &&
           t->model.stage.bytes_sent == sent.bytes;
    good = good && t->model.stage.kept == 0 && t->model.stage.kept_most == kept &&
           t->model.stage.n_slots == kept;
    good = good && (schedule != PIPELINE_1f1b || kept <= stages);
    session_close(&s);
    assert_all(good);
}

static void stages_keep_and_send_what_formulas_say(void **state)
{
    option(OPT_GLOBAL_BATCH, "24");
    option(OPT_ACCUMULATE, "6");
    for (int stages = 2; stages <= STAGES_MOST; stages++)
        for (int schedule = 0; schedule < PIPELINE_SCHEDULES && fits(stages); schedule++)
            expect_formulas((enum pipeline_schedule)schedule, stages);
}

/* A stage needs less memory than the net, and with 1F1B less than with GPipe. */
static void later_stages_keep_less(void **state)
{
    struct session s;
    size_t bytes[PIPELINE_SCHEDULES];
    int ranks = mpi_world_ranks();
    if (ranks == 1 || ranks > STAGES_MOST)
        return;
    option(OPT_ACCUMULATE, "6");
    /* The same cut for both schedules, however busy the machine is. */
    option(OPT_PIPELINE_CUT, "flops");
    set_stages(ranks);
    for (int i = 0; i < PIPELINE_SCHEDULES; i++) {
        option(OPT_PIPELINE_SCHEDULE, names_pipeline_schedules->names[i]);
        assert_all(session_open(&s, MPI_COMM_WORLD, 1));
        bytes[i] = net_bytes(s.trainer.model.net);
        bool part = arenas_of(&s)->n < fixture.desc.n_params;
        session_close(&s);
        assert_all(part);
    }
    assert_all(bytes[PIPELINE_1f1b] < bytes[PIPELINE_gpipe]);
}

/* ---- Errors ---- */

/* Receives are posted for activations that never arrive: nothing may be written after their buffers
 * are freed. */
static void receives_of_a_step_that_ends_early_are_given_up(void **state)
{
    struct session s;
    struct error e;
    option(OPT_ACCUMULATE, "3");
    for (int stages = 2; stages <= STAGES_MOST; stages++) {
        if (!fits(stages))
            continue;
        set_stages(stages);
        memset(&held, 0, sizeof held);
        bool good = session_open(&s, MPI_COMM_WORLD, 1);
        struct trainer *t = &s.trainer;
        struct batch batch = sampler_get(&t->batches.sampler, 0, 0);
        good = good && stage_step_begin(&t->model.stage, &batch, 3, &e) == OK;
        good = good && (held.requests > 0) == (t->job.grid.stage > 0);
        session_close(&s);
        good = holds_nothing("a pipeline") && good;
        assert_all(good);
    }
}

/* Finds the sizes (bytes) of a micro-batch's shorter and longer message between the stage and its
 * neighbours. */
static void find_messages(const struct trainer *t, size_t *shorter, size_t *longer)
{
    const struct stage *s = &t->model.stage;
    size_t in =
        net_activation_reals(t->model.net, s->first, (int)t->batches.micro_max) * sizeof(real);
    size_t out =
        net_activation_reals(t->model.net, s->last, (int)t->batches.micro_max) * sizeof(real);
    if (t->job.grid.stage == 0)
        in = out;
    if (t->job.grid.stage + 1 == t->job.grid.stages)
        out = in;
    *shorter = in < out ? in : out;
    *longer = in < out ? out : in;
}

/* Checks message sizes before the first step, against the limit of each rank's library. */
static bool opens(size_t most, bool expected)
{
    struct session s;
    struct waiter *w = &waiters[0].waiter;
    size_t usual = w->message_most;
    w->message_most = most;
    bool opened = session_open(&s, MPI_COMM_WORLD, 1);
    bool good = opened == expected && (s.trainer.model.stage.slots != NULL) == expected &&
                s.trainer.job.waiter == w && s.trainer.model.net != NULL;
    session_close(&s);
    w->message_most = usual;
    return good;
}

static void messages_that_are_too_long_are_refused(void **state)
{
    struct session s;
    size_t shorter, longer;
    option(OPT_PIPELINE_CUT, "flops");
    for (int stages = 2; stages <= STAGES_MOST; stages++) {
        if (!fits(stages))
            continue;
        set_stages(stages);
        bool good = session_open(&s, MPI_COMM_WORLD, 1);
        find_messages(&s.trainer, &shorter, &longer);
        session_close(&s);
        assert_all(good);
        assert_all(opens(longer, true));
        assert_all(opens(shorter - 1, false));
    }
}

/* ---- Replay ---- */

/* Replayed stages send as many messages of the same size. */
static void replayed_stages_send_the_same(void **state)
{
    struct session s;
    struct error e;
    struct step_record replayed;
    const struct stage *stage = &s.trainer.model.stage;
    option(OPT_ACCUMULATE, "3");
    option(OPT_PIPELINE_CUT, "flops");
    for (int stages = 2; stages <= STAGES_MOST; stages++) {
        if (!fits(stages))
            continue;
        set_stages(stages);
        bool good = session_open(&s, MPI_COMM_WORLD, 1) &&
                    trainer_step(&s.trainer, 0, 0, &replayed, &e) == OK;
        const uint64_t messages = stage->messages_sent, bytes = stage->bytes_sent;
        session_close(&s);
        assert_all(good);
        session_work = (struct work_options){.gflops = 1};
        good = session_open(&s, MPI_COMM_WORLD, 1) &&
               trainer_step(&s.trainer, 0, 0, &replayed, &e) == OK;
        good = good && bytes == stage->bytes_sent && messages == stage->messages_sent;
        int64_t own_ns = replayed.line.forward_ns + replayed.line.backward_ns;
        session_close(&s);
        session_work = (struct work_options){0};
        assert_all(good && replayed.line.replayed_ns > 0 &&
                   (double)own_ns >= 0.999 * (double)replayed.line.replayed_ns);
    }
}

#ifndef SCALEBENCH_F64 /* its plans have no fused small convolutions */
/* Rank 0 detects it, and no other rank hangs. */
static void more_stages_than_a_plan_has_are_refused(void **state)
{
    struct session s;
    if (mpi_world_ranks() != STAGES_MOST)
        return;
    option(OPT_KERNELS, "fast");
    set_stages(STAGES_MOST);
    bool opened = session_open(&s, MPI_COMM_WORLD, 1);
    int ops = s.trainer.model.net != NULL ? net_ops(s.trainer.model.net) : 0;
    session_close(&s);
    assert_all(!opened && ops == 0);
}
#endif

#define TEST(function)     cmocka_unit_test_setup_teardown(function, setup_small, teardown)
#define TEST_VGG(function) cmocka_unit_test_setup_teardown(function, setup_vgg, teardown)

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(stages_compute_the_bits_of_accumulation),
        TEST_VGG(stages_of_a_net_with_batch_norm_compute_the_same_bits),
        TEST(sgd_equals_sequential),
        TEST(adam_by_gpipe_equals_sequential),
        TEST(clipped_lamb_equals_sequential),
        TEST(every_strategy_sums_a_stage),
        TEST_VGG(stages_share_batch_norm),
        TEST(stages_evaluate_as_one_rank),
        TEST_VGG(stages_evaluate_as_one_rank),
        TEST(stages_keep_and_send_what_formulas_say),
        TEST_VGG(stages_keep_and_send_what_formulas_say),
        TEST_VGG(later_stages_keep_less),
        TEST(receives_of_a_step_that_ends_early_are_given_up),
        TEST(messages_that_are_too_long_are_refused),
        TEST(replayed_stages_send_the_same),
#ifndef SCALEBENCH_F64
        TEST(more_stages_than_a_plan_has_are_refused),
#endif
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
