/* 16-bit gradients under a loss scale, on real ranks. Provoked overflows move the scale as
 * DeepSpeed's tests expect (tests/unit/runtime/half_precision/test_dynamic_loss_scale.py), equally
 * on all ranks. A step that overflows changes nothing; other steps apply the sum.
 * double: 2 3 */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/tests/sync_fixture.h"

enum { N = 1009 };

static const enum strategy_kind takers[] = {STRATEGY_allreduce, STRATEGY_allreduce_layer,
                                            STRATEGY_bucketed};
enum { TAKERS = sizeof takers / sizeof *takers };

static void setup(struct fixture *f, enum precision precision)
{
    fixture_init(f);
    fixture_cut(f, N);
    f->config.precision = precision;
    f->config.compressor = precision == PRECISION_fp16 ? COMPRESSOR_fp16 : COMPRESSOR_bf16;
    f->config.options[SYNC_cap_mib] = 0.002;
}

static void setup_dynamic(struct fixture *f, double initial, uint32_t hysteresis)
{
    setup(f, PRECISION_fp16);
    f->loss_scale = (struct loss_scale_options){
        .initial = initial, .least = 1, .window = 2, .hysteresis = hysteresis};
}

/* Runs a step with gradients of 1/64 on every rank; one rank, a different one each time, has
 * `number` at one place. */
static bool step_with(struct fixture *f, real number)
{
    int ranks = mpi_world_ranks(), one = (int)(f->step % (uint64_t)ranks);
    real *grads = fixture_grads(f);
    for (size_t i = 0; i < N; i++)
        grads[i] = (real)(f->sync->loss_scale.value / 64);
    if (mpi_world_rank() == one)
        grads[f->step % N] = number;
    bool good = fixture_step(f, 1);
    loss_scale_update(&f->sync->loss_scale, f->sync->overflow);
    return good;
}

static bool moves(struct fixture *f, const real *numbers, const double *scales, size_t n)
{
    bool good = fixture_open(f, takers[0]);
    for (size_t i = 0; i < n && good; i++) {
        good = step_with(f, numbers[i]) && f->sync->loss_scale.value == scales[i] &&
               f->sync->overflow == !isfinite(numbers[i]);
        good = mpi_all(good);
        if (!good)
            print_error("step %zu: scale %g, expected %g\n", i, f->sync->loss_scale.value,
                        scales[i]);
    }
    sync_destroy(f->sync);
    return good;
}

#define COUNT(array)    (sizeof(array) / sizeof *(array))
#define INF             ((real)INFINITY)
#define NOT_A_NUMBER    ((real)NAN)
#define POWER(exponent) ((double)(1 << (exponent)))

static void without_overflow_the_scale_doubles_every_window(void **state)
{
    static const real numbers[10] = {0.05f, -0.1f, 0.01f, 0, 0.1f, -0.03f, 0.02f, 0, 0, 0.1f};
    double expected = POWER(8), scales[10];
    struct fixture f;
    for (int i = 0; i < 10; i++) {
        scales[i] = expected;
        expected *= (i + 1) % 2 == 0 ? 2 : 1;
    }
    setup_dynamic(&f, POWER(8), 2);
    assert_all(moves(&f, numbers, scales, COUNT(numbers)));
}

static void overflows_halve_it_down_to_the_least(void **state)
{
    const real numbers[] = {INF,          -INF,         NOT_A_NUMBER, NOT_A_NUMBER,
                            NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER};
    static const double to_one[] = {8, 4, 2, 1, 1, 1, 1, 1}, to_two[] = {8, 4, 2, 2, 2, 2, 2, 2};
    struct fixture f;
    setup_dynamic(&f, POWER(4), 1);
    assert_all(moves(&f, numbers, to_one, COUNT(numbers)));
    f.loss_scale.least = 2;
    assert_all(moves(&f, numbers, to_two, COUNT(numbers)));
}

static void it_recovers_between_overflows(void **state)
{
    const real numbers[] = {INF, NOT_A_NUMBER, 0.1f, 0.2f, -0.1f, INF};
    const double scales[] = {POWER(7), POWER(6), POWER(6), POWER(6), POWER(7), POWER(6)};
    struct fixture f;
    setup_dynamic(&f, POWER(8), 1);
    assert_all(moves(&f, numbers, scales, COUNT(numbers)));
}

/* Overflows before the last only skip steps; hysteresis is reset when the scale doubles. */
static void hysteresis_lets_overflows_pass(void **state)
{
    const real all[] = {INF, INF, INF, INF};
    const double lowered[] = {POWER(8), POWER(8), POWER(7), POWER(6)};
    const real some[] = {INF, 0, 0, 0, INF, INF};
    const double kept[] = {POWER(8), POWER(8), POWER(8), POWER(9), POWER(9), POWER(8)};
    struct fixture f;
    setup_dynamic(&f, POWER(8), 3);
    assert_all(moves(&f, all, lowered, COUNT(all)));
    f.loss_scale.hysteresis = 2;
    assert_all(moves(&f, some, kept, COUNT(some)));
}

/* Each rank's own number fits. The sum of two overflows, and so does a number that is rounded
 * up. */
static void a_sum_that_overflows_is_skipped_by_all(void **state)
{
    struct fixture f;
    real too_much = mpi_world_ranks() > 1 ? 40000 : 65520, most = 65504;
    setup(&f, PRECISION_fp16);
    f.loss_scale.fixed = 1;
    bool good = fixture_open(&f, takers[0]);
    real *grads = fixture_grads(&f);
    memset(grads, 0, N * sizeof *grads);
    grads[N - 1] = too_much;
    good = fixture_step(&f, 1) && f.sync->overflow && good;
    loss_scale_update(&f.sync->loss_scale, f.sync->overflow);
    memset(grads, 0, N * sizeof *grads);
    grads[N - 1] = mpi_world_rank() == 0 ? most : 0;
    good = fixture_step(&f, 1) && !f.sync->overflow && good;
    good = good && f.sync->arenas.params[N - 1] == -most && f.sync->loss_scale.value == 1 &&
           f.sync->loss_scale.skipped == 1;
    sync_destroy(f.sync);
    assert_all(good);
}

/* Momentum and clipping ignore a step that overflows. */
static void a_skipped_step_changes_nothing(void **state)
{
    static real params[N], velocity[N];
    struct fixture f;
    setup_dynamic(&f, 1024, 1);
    f.optimizer.momentum = 0.9;
    f.optimizer.clip_norm = 0.5;
    f.config.scale = GRADIENT_SCALE_post;
    bool good = fixture_open(&f, takers[0]) && step_with(&f, 1);
    const struct arenas *a = &f.sync->arenas;
    memcpy(params, a->params, sizeof params);
    memcpy(velocity, a->state, sizeof velocity);
    good = step_with(&f, INF) && step_with(&f, NOT_A_NUMBER) && good;
    good = good && memcmp(params, a->params, sizeof params) == 0 &&
           memcmp(velocity, a->state, sizeof velocity) == 0 && f.sync->loss_scale.skipped == 2;
    good = step_with(&f, 1) && memcmp(params, a->params, sizeof params) != 0 && good;
    good = fixture_is_equal_everywhere(&f) && good;
    sync_destroy(f.sync);
    assert_all(good);
}

static void fill(const struct fixture *f)
{
    real *grads = fixture_grads(f);
    for (size_t i = 0; i < N; i++)
        grads[i] = (real)(f->sync->loss_scale.value * sin((double)i + 1000.0 * mpi_world_rank()) *
                          pow(2, (double)(i % 6) - 6));
}

static bool step_of(struct fixture *f, enum strategy_kind kind, real params[N])
{
    bool good = fixture_open(f, kind);
    fill(f);
    good = fixture_step(f, 1) && !f->sync->overflow && good;
    memcpy(params, f->sync->arenas.params, N * sizeof *params);
    sync_destroy(f->sync);
    return good;
}

/* Each strategy rounds a gradient once on each rank and once in the sum, however messages divide
 * the gradients. In fp16, strategy none rounds as well, so one rank gets the same bits. */
static void strategies_have_the_same_bits(void **state)
{
    static real first[N], other[N];
    for (int precision = PRECISION_bf16; precision < PRECISIONS; precision++) {
        struct fixture f;
        setup(&f, (enum precision)precision);
        f.loss_scale.fixed = precision == PRECISION_fp16 ? 256 : 0;
        bool good = step_of(&f, takers[0], first);
        for (int t = 1; t < TAKERS; t++)
            good = step_of(&f, takers[t], other) && memcmp(first, other, sizeof first) == 0 && good;
        f.config.compressor = COMPRESSOR_none;
        good = step_of(&f, STRATEGY_none, other) && good;
        if (mpi_world_ranks() == 1 && precision == PRECISION_fp16)
            good = good && memcmp(first, other, sizeof first) == 0;
        assert_all(good);
    }
}

/* Scaling by a power of two and back is exact, as long as no number is too small or too large
 * for fp16. */
static void the_scale_leaves_no_trace(void **state)
{
    static real plain[N], scaled[N];
    struct fixture f;
    setup(&f, PRECISION_fp16);
    f.loss_scale.fixed = 256;
    bool good = step_of(&f, takers[0], plain);
    f.loss_scale.fixed = 1024;
    good = step_of(&f, takers[0], scaled) && good;
    assert_all(good && memcmp(plain, scaled, sizeof plain) == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_overflow_the_scale_doubles_every_window),
        cmocka_unit_test(overflows_halve_it_down_to_the_least),
        cmocka_unit_test(it_recovers_between_overflows),
        cmocka_unit_test(hysteresis_lets_overflows_pass),
        cmocka_unit_test(a_sum_that_overflows_is_skipped_by_all),
        cmocka_unit_test(a_skipped_step_changes_nothing),
        cmocka_unit_test(strategies_have_the_same_bits),
        cmocka_unit_test(the_scale_leaves_no_trace),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
