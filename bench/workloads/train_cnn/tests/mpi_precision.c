/* Mixed precision: rounded weights, exact master weights, and a common loss scale even if batches
 * differ by rank.
 * ranks: 1 2 3 4
 * double: 2 */
#include "bench/workloads/train_cnn/tests/train_fixture.h"
#include "comm/local_ops.h"

static void round_all(const struct session *s, enum precision precision, real *x, float scale)
{
    const struct cast16 *cast = local_cast16(precision, s->trainer.model.isa);
    local_round16(&s->trainer.model.exec, cast, x, arenas_of(s)->n, scale);
}

/* Applies the optimizer's first step with these gradients to master weights. */
static void first_update(const struct session *s, real *params, const real *grads)
{
    struct optimizer o = s->trainer.optimizer;
    const struct arenas *a = arenas_of(s);
    o.state = calloc((size_t)a->slots * a->n, sizeof *o.state);
    optimizer_step(&o, NULL, params, grads, 0, a->n, 1, trainer_lr(&s->trainer));
    free(o.state);
}

static struct score evaluate(struct session *s, bool *good)
{
    struct score score = {0};
    struct class_counts classes;
    struct error e;
    *good = trainer_evaluate(&s->trainer, &fixture.data.test, &score, &classes, &e) == OK && *good;
    return score;
}

/* Compares one rank with a full-precision run whose weights fit 16 bits. The loss scale is a power
 * of two and changes no digit, so gradients differ only by rounding. */
static bool computes_with_rounded_weights(enum precision precision, int threads)
{
    struct session mixed, plain;
    const real scale = precision == PRECISION_fp16 ? 1024 : 1;
    option(OPT_PRECISION, names_precisions->names[precision]);
    option(OPT_LOSS_SCALE, precision == PRECISION_fp16 ? "1024" : "0");
    bool good = session_open(&mixed, MPI_COMM_SELF, threads);
    option(OPT_PRECISION, "fp32");
    good = session_open(&plain, MPI_COMM_SELF, threads) && good;
    const struct arenas *a = arenas_of(&mixed), *b = arenas_of(&plain);
    size_t bytes = a->n * sizeof(real);
    real *masters = malloc(bytes);
    memcpy(masters, a->params, bytes);
    round_all(&plain, precision, b->params, 1);
    good = memcmp(masters, b->params, bytes) != 0 && good;
    struct score first = evaluate(&mixed, &good), second = evaluate(&plain, &good);
    good = good && first.loss_sum == second.loss_sum && first.correct == second.correct;

    good = session_step(&mixed, 0) && session_step(&plain, 0) && good;
    for (size_t i = 0; i < b->n; i++)
        b->grads[i] *= scale;
    round_all(&plain, precision, b->grads, (float)(1 / scale));
    good = memcmp(a->grads, b->grads, bytes) == 0 && good;
    first_update(&mixed, masters, b->grads);
    good = memcmp(masters, a->params, bytes) == 0 && good;
    free(masters);
    session_close(&mixed);
    session_close(&plain);
    return good;
}

/* Uses a net whose products and values have full precision. */
static void steps_compute_with_rounded_weights(void **state)
{
    assert_all(computes_with_rounded_weights(PRECISION_bf16, 1));
    assert_all(computes_with_rounded_weights(PRECISION_fp16, 2));
}

/* Only bf16 operands are rounded, and only on processors that multiply them; the net reports it. */
static void bf16_is_multiplied_where_the_processor_can(void **state)
{
    for (int precision = PRECISION_fp32; precision <= PRECISION_fp16; precision++) {
        struct session s;
        char kernels[KERNELS_TEXT];
        option(OPT_PRECISION, names_precisions->names[precision]);
        bool good = session_open(&s, MPI_COMM_SELF, 1);
        bool wanted = precision == PRECISION_bf16 && sizeof(real) == sizeof(float);
        good = good && s.trainer.model.isa == (wanted ? isa_best_bf16() : isa_best());
        net_kernels_text(s.trainer.model.net, s.trainer.model.desc, kernels);
        bool rounds = s.trainer.model.isa != isa_exact(s.trainer.model.isa);
        good = good && (strstr(kernels, "_bf16") != NULL) == rounds;
        session_close(&s);
        assert_all(good);
    }
}

static void reference_kernels_compute_with_rounded_weights(void **state)
{
    option(OPT_KERNELS, "reference");
    assert_all(computes_with_rounded_weights(PRECISION_bf16, 1));
    assert_all(computes_with_rounded_weights(PRECISION_fp16, 1));
}

/* ---- Ranks ---- */

enum { STEPS = 12 };

/* Trains and returns the hash of the weights, 0 if training failed or ranks differ. */
static uint64_t train(struct loss_scale *scale)
{
    struct session s;
    uint64_t hash = 0;
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    for (uint32_t i = 0; i < STEPS; i++)
        good = session_step(&s, i) && good;
    if (good) {
        hash = trainer_hash(&s.trainer);
        *scale = s.trainer.sync->loss_scale;
        good = trainer_wrong_weight(&s.trainer) == 0;
    }
    good = mpi_all(good) && is_equal_everywhere(hash);
    good = is_equal_everywhere((uint64_t)scale->value) && is_equal_everywhere(scale->skipped) &&
           is_equal_everywhere(scale->clean) && good;
    session_close(&s);
    return good ? hash : 0;
}

/* All ranks get equal weights, under every strategy that sends 16 bits, with micro-batches and with
 * polling between tiles. Batches are not divisible, and the last one leaves most ranks without
 * images. */
static void expect_one_training(enum precision precision, bool overflows)
{
    static const struct {
        enum strategy_kind strategy;
        enum overlap_kind overlap;
    } takers[] = {{STRATEGY_allreduce, OVERLAP_none},
                  {STRATEGY_allreduce_layer, OVERLAP_none},
                  {STRATEGY_bucketed, OVERLAP_none},
                  {STRATEGY_bucketed, OVERLAP_poll_tiles}};
    uint64_t first = 0;
    option(OPT_PRECISION, names_precisions->names[precision]);
    option(OPT_DATA_SAMPLES, "52");
    option(OPT_ACCUMULATE, "2");
    option(OPT_sync_cap_mib, "0.02");
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        struct loss_scale scale = {0};
        option(OPT_STRATEGY, strategy_names()[takers[i].strategy]);
        option(OPT_OVERLAP, overlap_names()[takers[i].overlap]);
        uint64_t hash = train(&scale);
        first = i == 0 ? hash : first;
        assert_all(hash != 0 && hash == first);
        assert_all((scale.skipped > 0) == overflows && scale.skipped < STEPS);
    }
}

/* ---- Learning ---- */

/* Returns the test loss after some epochs; NAN on failure. */
static double learned(const char *precision, const char *seed)
{
    enum { LEARNED_STEPS = 30 };
    struct session s;
    option(OPT_PRECISION, precision);
    option(OPT_SEED, seed);
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    for (uint32_t i = 0; i < LEARNED_STEPS; i++)
        good = session_step(&s, i) && good;
    struct score score = evaluate(&s, &good);
    session_close(&s);
    return mpi_all(good) ? score.loss_sum / TEST_IMAGES : NAN;
}

struct losses {
    double mean, least, most;
};

static struct losses losses_of(const char *precision)
{
    static const char *const seeds[] = {"1", "2", "3", "4"};
    enum { SEEDS = sizeof seeds / sizeof *seeds };
    struct losses losses = {0, INFINITY, -INFINITY};
    for (int i = 0; i < SEEDS; i++) {
        double loss = learned(precision, seeds[i]);
        losses.mean += loss / SEEDS;
        losses.least = fmin(losses.least, loss);
        losses.most = fmax(losses.most, loss);
    }
    return losses;
}

/* Short training at this rate is chaotic, and single seeds may not have begun to learn. Over seeds,
 * 16 bits are no further from fp32 than fp32 runs from each other, and all learn. */
static void narrow_learns_as_fp32_does(void **state)
{
    option(OPT_LR, "0.02");
    option(OPT_LOSS_SCALE, "0");
    option(OPT_LOSS_SCALE_INITIAL, "1024"); /* no steps are skipped to find the scale */
    double untrained = log(10);
    struct losses wide = losses_of("fp32");
    assert_all(wide.mean < 0.9 * untrained);
    for (int precision = PRECISION_bf16; precision < PRECISIONS; precision++) {
        struct losses narrow = losses_of(names_precisions->names[precision]);
        assert_all(narrow.mean < 0.9 * untrained && narrow.mean != wide.mean);
        assert_all(fabs(narrow.mean - wide.mean) <= wide.most - wide.least);
    }
}

static void ranks_agree_in_bf16(void **state)
{
    expect_one_training(PRECISION_bf16, false);
}

static void ranks_agree_under_a_fixed_scale(void **state)
{
    option(OPT_LOSS_SCALE, "128");
    expect_one_training(PRECISION_fp16, false);
}

/* The initial scale is too high by some powers of two, each of which skips a step. */
static void ranks_agree_on_overflows(void **state)
{
    option(OPT_LOSS_SCALE_INITIAL, "4194304");
    option(OPT_LOSS_SCALE_HYSTERESIS, "1");
    option(OPT_LOSS_SCALE_WINDOW, "2");
    expect_one_training(PRECISION_fp16, true);
}

/* The warm-up of the rate does not count skipped steps. */
static void skipped_steps_do_not_count(void **state)
{
    struct session s;
    struct step_record record;
    struct error e;
    option(OPT_PRECISION, "fp16");
    option(OPT_LOSS_SCALE_INITIAL, "4294967296");
    option(OPT_WARMUP_STEPS, "10");
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    uint64_t before = trainer_hash(&s.trainer);
    good = trainer_step(&s.trainer, 0, 0, &record, &e) == OK && good;
    good = good && record.line.skipped && record.line.loss_scale == 4294967296.0 &&
           trainer_hash(&s.trainer) == before;
    s.trainer.sync->loss_scale.value = 64;
    good = trainer_step(&s.trainer, 0, 1, &record, &e) == OK && good;
    good = good && !record.line.skipped && record.line.loss_scale == 64 &&
           s.trainer.steps_done == 2 && fabs(trainer_lr(&s.trainer) - 0.001) < 1e-12 &&
           trainer_hash(&s.trainer) != before;
    session_close(&s);
    assert_all(good);
}

/* ---- Overflows of values ---- */

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    memcpy(copy, from, bytes);
    return copy;
}

/* Runs a step whose first convolution has outputs near 100,000, beyond fp16 but not fp32. A skipped
 * step changes nothing, not even running statistics. */
static bool steps_with_large_values(const char *plan, bool *skipped)
{
    struct session s;
    struct step_record record;
    struct error e;
    option(OPT_KERNELS, plan);
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    const struct arenas *a = arenas_of(&s);
    for (size_t i = 0; i < fixture.desc.tensors[0].count; i++)
        a->params[i] *= 0x1p18f;
    size_t params = a->n * sizeof(real), buffers = fixture.desc.n_buffer_values * sizeof(real);
    void *params_before = copy_of(a->params, params),
         *buffers_before = copy_of(a->buffers, buffers);
    good = trainer_step(&s.trainer, 0, 0, &record, &e) == OK && good;
    *skipped = record.line.skipped;
    good = good && (memcmp(params_before, a->params, params) == 0) == record.line.skipped;
    good = good && (!record.line.skipped || memcmp(buffers_before, a->buffers, buffers) == 0);
    free(params_before);
    free(buffers_before);
    session_close(&s);
    return good;
}

/* The reference plan passes on `real`; the double-precision build does so in all plans. */
static void expect_overflows_of_values(void)
{
    static const char *const plans[] = {"fast", "exact", "reference"};
    option(OPT_PRECISION, "fp16");
    option(OPT_LOSS_SCALE, "1");
    option(OPT_DATA_SAMPLES, "25");
    for (int i = 0; i < 3; i++) {
        bool skipped = false, good = steps_with_large_values(plans[i], &skipped);
        assert_all(good && skipped == (i < 2 && sizeof(real) == sizeof(float)));
    }
}

static void values_before_batch_norm_overflow(void **state)
{
    expect_overflows_of_values();
}

/* All images but one are black, so values overflow on one rank only. */
static void all_ranks_skip_what_overflows_on_one(void **state)
{
    size_t pixels = shape_count(fixture.data.shape);
    memset(fixture.images, 0, IMAGES * pixels);
    memset(fixture.images, 255, pixels);
    expect_overflows_of_values();
}

#define TEST(function)     cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_VGG(function) cmocka_unit_test_setup_teardown(function, setup_vgg, teardown)

/* 3x3 convolutions without batch norm. */
static int setup_plain(void **state)
{
    return setup_model("keras_690k", (struct shape){1, 28, 28});
}
#define TEST_PLAIN(function) cmocka_unit_test_setup_teardown(function, setup_plain, teardown)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(steps_compute_with_rounded_weights),
        TEST_VGG(bf16_is_multiplied_where_the_processor_can),
        TEST(reference_kernels_compute_with_rounded_weights),
        TEST_VGG(narrow_learns_as_fp32_does),
        TEST(ranks_agree_in_bf16),
        TEST_VGG(ranks_agree_in_bf16),
        TEST(ranks_agree_under_a_fixed_scale),
        TEST(ranks_agree_on_overflows),
        TEST_VGG(ranks_agree_on_overflows),
        TEST(skipped_steps_do_not_count),
        TEST_VGG(values_before_batch_norm_overflow),
        TEST_PLAIN(all_ranks_skip_what_overflows_on_one),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
