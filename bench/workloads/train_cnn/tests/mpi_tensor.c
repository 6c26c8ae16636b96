/* Sliced dense layers: several ranks train like one, with dropout between the layers. Shared
 * weights stay equal bit for bit, and sums match the formulas.
 * double: 2 3 4 */
#include "bench/workloads/train_cnn/check.h"
#include "bench/workloads/train_cnn/tests/train_alone.h"
#include "comm/cost/tensor.h"

static void set_slices(int slices)
{
    char text[16];
    snprintf(text, sizeof text, "%d", slices);
    option(OPT_TENSOR, text);
}

/* ---- Nets ---- */

static void add(enum layer_kind kind, int outputs, bool without_bias)
{
    struct error e;
    struct layer_desc layer = layer_desc_preset(kind);
    if (outputs > 0)
        layer.channels = outputs;
    layer.without_bias = without_bias;
    assert_int_equal(net_desc_add(&fixture.desc, &layer, &e), OK);
}

/* Makes two pairs of layers: no parameters before the first pair, ReLU and dropout after its second
 * layer. */
static int setup_pairs(void **state, bool without_bias)
{
    static const int outputs[] = {24, 12, 18};
    struct error e;
    int status = setup(state);
    net_desc_free(&fixture.desc);
    if (net_desc_begin(&fixture.desc, "deep", (struct shape){1, 28, 28}, 10, &e) != OK)
        return -1;
    for (int i = 0; i < 3; i++) {
        add(LAYER_dense, outputs[i], without_bias);
        add(LAYER_relu, 0, false);
        add(LAYER_dropout, 0, false);
    }
    add(LAYER_dense, 10, without_bias);
    return net_desc_end(&fixture.desc, &e) == OK ? status : -1;
}

static int setup_deep(void **state)
{
    return setup_pairs(state, false);
}

static int setup_unbiased(void **state)
{
    return setup_pairs(state, true);
}

/* ---- Comparing ---- */

static bool train_whole(struct alone *a)
{
    set_slices(1);
    option(OPT_STRATEGY, "allreduce");
    return train_alone(a, STEPS);
}

/* Copies the elements of a whole net that the session's slice holds. */
static void take_slice(real *to, const struct session *cut, const struct session *whole)
{
    const struct net_desc *slice = &cut->trainer.model.slice.desc;
    const real *params = arenas_of(whole)->params;
    for (int i = 0; i < slice->n_tensors; i++)
        for (size_t k = 0; k < slice->tensors[i].count; k++)
            to[slice->tensors[i].offset + k] =
                params[fixture.desc.tensors[i].offset +
                       net_slice_element(&fixture.desc, slice, i, k)];
}

static double distance_of(const struct session *cut, const struct alone *alone)
{
    const struct arenas *a = arenas_of(cut);
    real *trained = malloc(2 * a->n * sizeof *trained), *before = trained + a->n;
    take_slice(trained, cut, &alone->trained);
    take_slice(before, cut, &alone->initial);
    double distance = relative_difference(a->params, trained, before, a->n);
    free(trained);
    return distance;
}

/* Compares hashes as at the end of a run: replicas, and weights shared by slices. */
static bool finds_weights_equal(struct session *s)
{
    struct hashes h = {.n = 0};
    struct record_end end = {.weights_equal = VERDICT_UNKNOWN};
    struct error e;
    bool good = hashes_reserve(&h, 1, &e) == OK;
    hashes_add(&h, &s->trainer);
    good = hashes_compare(&h, &s->trainer.job, &end, &e) == OK && good;
    hashes_close(&h);
    return good && end.weights_equal == VERDICT_TRUE;
}

static void expect_near(const struct alone *alone, int slices, int threads)
{
    struct session cut;
    set_slices(slices);
    bool good = session_open(&cut, MPI_COMM_WORLD, threads) && session_steps(&cut, STEPS);
    good = mpi_all(good);
    double distance = good ? distance_of(&cut, alone) : 2;
    bool equal = good && finds_weights_equal(&cut);
    session_close(&cut);
    expect_allowed(distance, slices);
    assert_all(equal);
}

static bool fits(int slices)
{
    int replicas = mpi_world_ranks() / slices;
    return mpi_world_ranks() % slices == 0 &&
           (replicas == 1 || net_slice_is_even(&fixture.desc, slices));
}

/* Tests all numbers of slices that fit these ranks. */
static void expect_sequential(int threads)
{
    struct alone alone;
    assert_all(train_whole(&alone));
    for (int slices = 2; slices <= mpi_world_ranks(); slices++)
        if (fits(slices))
            expect_near(&alone, slices, threads);
    alone_close(&alone);
}

/* ---- Equal training ---- */

/* 25 images per step are not divisible by replicas or micro-batches, 50 outputs not by slices. */
static void sgd_equals_sequential(void **state)
{
    expect_sequential(1);
    option(OPT_ACCUMULATE, "3");
    option(OPT_KERNELS, "reference");
    expect_sequential(2);
}

/* An epoch ends with one image, so some replicas have none. */
static void replicas_without_images_take_part(void **state)
{
    option(OPT_DATA_SAMPLES, "26");
    option(OPT_ACCUMULATE, "2");
    expect_sequential(1);
}

static void adam_equals_sequential(void **state)
{
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    option(OPT_WEIGHT_DECAY, "0.01");
    option(OPT_CLIP_VALUE, "0.01");
    expect_sequential(2);
}

/* Clipping uses the norm over all slices and counts shared weights once. */
static void clipping_by_norm_equals_sequential(void **state)
{
    option(OPT_OPTIMIZER, "adamw");
    option(OPT_LR, "0.001");
    option(OPT_CLIP_NORM, "0.05");
    expect_sequential(1);
}

/* Two replicas of two slices. */
static void strategies_sum_over_replicas(void **state)
{
    struct alone alone;
    if (mpi_world_ranks() != 4)
        return;
    option(OPT_CLIP_NORM, "0.05");
    assert_all(train_whole(&alone));
    option(OPT_sync_segment, "4KiB");
    option(OPT_sync_cap_mib, "0.02");
    for (int s = 0; s < STRATEGIES; s++) {
        unsigned flags = strategy_flags((enum strategy_kind)s);
        unsigned wanted = STRATEGY_EXACT | STRATEGY_DETERMINISTIC;
        if ((flags & wanted) != wanted || (flags & STRATEGY_SHARES_WEIGHTS))
            continue;
        option(OPT_STRATEGY, strategy_names()[s]);
        expect_near(&alone, 2, 1);
    }
    option(OPT_STRATEGY, "bucketed");
    option(OPT_OVERLAP, "poll_tiles");
    expect_near(&alone, 2, 1);
    alone_close(&alone);
}

/* ---- Evaluation and checks ---- */

static void slices_evaluate_as_one_rank(void **state)
{
    for (int slices = 2; slices <= mpi_world_ranks(); slices++)
        if (fits(slices))
            expect_same_evaluation(set_slices, slices);
}

/* Other slices cannot check a slice's own weights, but they do check shared weights. */
static void a_shared_weight_that_differs_is_found(void **state)
{
    struct session s;
    if (mpi_world_ranks() == 1)
        return;
    set_slices(mpi_world_ranks());
    assert_all(session_open(&s, MPI_COMM_WORLD, 1));
    const struct net_desc *slice = &s.trainer.model.slice.desc;
    int last = slice->n_tensors - 1; /* bias of the last layer */
    bool whole = net_slice_has_whole(&fixture.desc, slice, last) &&
                 !net_slice_has_whole(&fixture.desc, slice, last - 1);
    bool equal = finds_weights_equal(&s);
    if (s.trainer.job.grid.slice == 1)
        arenas_of(&s)->params[slice->tensors[last].offset] += (real)0.5;
    bool found = !finds_weights_equal(&s);
    session_close(&s);
    assert_all(whole && equal && found);
}

/* ---- Sums ---- */

/* Returns the sums over slices in a micro-batch of one image, with numbers of `width` bytes. */
static struct cost sums_per_image(int slices, size_t width)
{
    struct cost c = {0};
    struct counter counter = counter_of(&c, 0, slices);
    tensor_program(&fixture.desc, slices, ALGORITHM_auto, 1, width, &counter.reader);
    return c;
}

/* A step of 24 images in three micro-batches: sums outputs forward and gradients backward for each
 * pair of layers. With two ranks, each formula of the library sends each vector once. */
static void slices_sum_what_formulas_say(void **state)
{
    enum { IMAGES_OF_STEP = 24, MICROS = 3 };
    struct session s;
    struct error e;
    struct step_record record;
    int ranks = mpi_world_ranks();
    if (ranks == 1)
        return;
    option(OPT_GLOBAL_BATCH, "24");
    option(OPT_ACCUMULATE, "3");
    set_slices(ranks);
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    const struct waiter *w = s.trainer.job.waiter;
    uint64_t calls = w->calls, payload = w->bytes_payload;
    good = trainer_step(&s.trainer, 0, 0, &record, &e) == OK && good;
    const struct cost others = sync_cost(s.trainer.sync), *sums = &s.trainer.sync->extra;
    const struct cost image = sums_per_image(ranks, sizeof(real));
    calls = w->calls - calls - others.calls;
    payload = w->bytes_payload - payload - others.bytes_payload;
    good = good && calls == MICROS * image.calls && payload == IMAGES_OF_STEP * image.bytes_payload;
    good = good && sums->calls == calls && sums->bytes_payload == payload;
    good = good && sums->bytes_wire > 0 && sums->messages_wire > 0;
    good = good && s.trainer.model.slice.bytes_sent == sums->bytes_wire &&
           (ranks != 2 || sums->bytes_wire == payload);
    good = good && arenas_of(&s)->n < fixture.desc.n_params;
    good = good && record.line.comm_exposed_ns > 0 &&
           record.line.arrive_ns > record.line.begin_ns &&
           record.line.arrive_ns < record.line.end_ns;
    session_close(&s);
    assert_all(good);
}

static void numbers_are_those_of_the_pairs(void **state)
{
    const struct cost image = sums_per_image(2, 1);
    bool deep = strcmp(fixture.desc.name, "deep") == 0;
    assert_int_equal(image.bytes_payload, deep ? 12 + 10 + 12 : 10 + 320);
    assert_int_equal(image.calls, deep ? 3 : 2);
}

#define TEST(function)          cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_UNBIASED(function) cmocka_unit_test_setup_teardown(function, setup_unbiased, teardown)
#define TEST_DEEP(function)     cmocka_unit_test_setup_teardown(function, setup_deep, teardown)

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(sgd_equals_sequential),
        TEST_DEEP(sgd_equals_sequential),
        TEST(replicas_without_images_take_part),
        TEST(adam_equals_sequential),
        TEST_DEEP(adam_equals_sequential),
        TEST(clipping_by_norm_equals_sequential),
        TEST_DEEP(clipping_by_norm_equals_sequential),
        TEST_UNBIASED(sgd_equals_sequential),
        TEST_UNBIASED(clipping_by_norm_equals_sequential),
        TEST_UNBIASED(slices_evaluate_as_one_rank),
        TEST_UNBIASED(slices_sum_what_formulas_say),
        TEST_DEEP(strategies_sum_over_replicas),
        TEST(slices_evaluate_as_one_rank),
        TEST_DEEP(slices_evaluate_as_one_rank),
        TEST(a_shared_weight_that_differs_is_found),
        TEST(slices_sum_what_formulas_say),
        TEST_DEEP(slices_sum_what_formulas_say),
        TEST(numbers_are_those_of_the_pairs),
        TEST_DEEP(numbers_are_those_of_the_pairs),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
