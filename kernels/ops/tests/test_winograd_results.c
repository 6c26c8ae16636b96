/* Properties of ops on blocks of channels that need no bound per number: outputs equal to the bias
 * if all inputs are zero, small rounding errors in mean square, repeatability. test_winograd.c has
 * the bounds of single numbers. */
#include "kernels/ops/tests/winograd_setup.h"

/* Keeps a seventh of the positions of x, half of these in one channel only; the rest becomes 0. */
static void blank_most(struct setup *r)
{
    struct shape in = r->conv->in;
    size_t plane = (size_t)in.h * (size_t)in.w;
    for (size_t at = 0; at < (size_t)r->n * shape_count(in); at++) {
        size_t image = at / shape_count(in), channel = at / plane % (size_t)in.c;
        uint32_t word = rng_word(8, 99, 0, (uint32_t)image,
                                 (uint32_t)(at % plane)); /* index of the position in its plane */
        bool all = word & 1, this = word / 14 % (uint32_t)in.c == channel;
        if (word / 2 % 7 != 0 || !(all || this))
            r->x[at] = 0;
    }
}

/* Returns whether the nine inputs of output (row, column) of image i are zero in all channels. */
static bool sees_zeros(const struct setup *r, int i, int row, int column)
{
    struct shape in = r->conv->in;
    double seen[TAPS];
    for (int c = 0; c < in.c; c++) {
        cut(seen, 3, r->x + (size_t)(i * in.c + c) * (size_t)(in.h * in.w), in.h, in.w,
            row - r->conv->pad_h, column - r->conv->pad_w);
        for (int t = 0; t < TAPS; t++)
            if (seen[t] != 0)
                return false;
    }
    return true;
}

/* Returns the number of outputs whose inputs are all zero. */
static size_t check_blank(const struct conv_case *c, enum plan plan, enum isa isa, int threads,
                          enum precision values)
{
    struct setup r;
    size_t blank = 0;
    setup_begin(&r, c->in, c->channels, c->pad, c->n, plan, isa, threads);
    blank_most(&r);
    if (values != PRECISION_fp32)
        setup_narrow(&r, values);
    setup_run(&r);
    struct shape out = r.conv->out;
    const real *y = r.y, *bias = r.params + (size_t)(TAPS * c->in.c * out.c);
    for (int i = 0; i < c->n; i++)
        for (int o = 0; o < out.c; o++)
            for (int row = 0; row < out.h; row++)
                for (int column = 0; column < out.w; column++, y++) {
                    if (!sees_zeros(&r, i, row, column))
                        continue;
                    blank++;
                    if (*y != bias[o])
                        fail_msg("plan %d, set %d, %d x %d: output %d (%d, %d) of image %d is %g "
                                 "more than its bias",
                                 plan, isa, c->in.h, c->in.w, o, row, column, i,
                                 (double)(*y - bias[o]));
                }
    setup_end(&r);
    return blank;
}

/* Tests each precision with this number of threads. */
static void outputs_of_zero_inputs_equal_the_bias(void **state)
{
    static const enum precision values[] = {PRECISION_fp32, PRECISION_bf16, PRECISION_fp16};
    bool narrow = sizeof(real) == sizeof(float);
    for (int plan = PLAN_FAST; plan <= PLAN_EXACT; plan++)
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best_bf16(); isa++)
            for (int threads = 1; threads <= 3; threads++) {
                size_t blank = 0;
                for (int i = 0; i < CASES; i++)
                    blank += check_blank(&cases[i], (enum plan)plan, (enum isa)isa, threads,
                                         narrow ? values[threads - 1] : PRECISION_fp32);
                assert_true(blank > 1000);
            }
}

/* Returns output (i, o, row, column) by direct sums with negligible rounding. */
static long double exact_output(const struct setup *r, int i, int o, int row, int column)
{
    struct shape in = r->conv->in;
    long double sum = (long double)r->params[TAPS * in.c * r->conv->out.c + o];
    for (int c = 0; c < in.c; c++)
        for (int t = 0; t < TAPS; t++) {
            int h = row - r->conv->pad_h + t / 3, w = column - r->conv->pad_w + t % 3;
            if (h >= 0 && h < in.h && w >= 0 && w < in.w)
                sum += (long double)r->x[((i * in.c + c) * in.h + h) * in.w + w] *
                       (long double)r->params[(o * in.c + c) * TAPS + t];
        }
    return sum;
}

/* The mean square of a rounding error is at most a third of a squared half epsilon. A chain of K
 * sums has K/2 such roundings, relative to its result. Transforms of operands add at most 7 on each
 * of four axes, and F4 amplifies the total by 4.8 (winograd_axis.h). The rounding of its last
 * transform is small in comparison. Both bf16 operands add a third of BF16_OFF squared. */
static void f4_amplifies_rounding_little(void **state)
{
    enum { K = 64 };
    const struct shape in = {K, 12, 12};
    for (int isa = ISA_PORTABLE; isa <= (int)isa_best_bf16(); isa++) {
        struct setup r;
        double off = 0, all = 0;
        setup_begin(&r, in, 8, 1, 2, PLAN_FAST, (enum isa)isa, 1);
        assert_int_equal(r.w.kind, WINOGRAD_F4);
        setup_run(&r);
        const real *y = r.y;
        for (int i = 0; i < r.n; i++)
            for (int o = 0; o < r.conv->out.c; o++)
                for (int p = 0; p < in.h * in.w; p++, y++) {
                    long double exact = exact_output(&r, i, o, p / in.w, p % in.w);
                    off += (double)((*y - exact) * (*y - exact));
                    all += (double)(exact * exact);
                }
        double epsilons = sqrt(off / all) / REAL_EPSILON;
        double roundings = (K / 2 + 4 * 7) / 4.0;
        if (r.w.pair == 2)
            roundings += 2 * (BF16_OFF / REAL_EPSILON) * (BF16_OFF / REAL_EPSILON);
        double bound = 4.8 * sqrt(roundings / 3);
        if (!(epsilons <= bound))
            fail_msg("%s: off by %.3g epsilon, at most %.3g expected", isa_names()[isa], epsilons,
                     bound);
        setup_end(&r);
    }
}

static void check_repeat(enum plan plan, enum isa isa)
{
    const struct conv_case *c = &cases[CASES - 1];
    struct setup a, b;
    setup_begin(&a, c->in, c->channels, c->pad, c->n, plan, isa, 3);
    setup_begin(&b, c->in, c->channels, c->pad, c->n, plan, isa, 3);
    setup_run(&a);
    setup_run(&b);
    setup_run(&b);
    assert_memory_equal(a.y, b.y, (size_t)c->n * shape_count(a.conv->out) * sizeof(real));
    assert_memory_equal(a.dx, b.dx, (size_t)c->n * shape_count(c->in) * sizeof(real));
    assert_memory_equal(a.dparams, b.dparams, a.desc.n_params * sizeof(real));
    setup_end(&a);
    setup_end(&b);
}

static void runs_repeat_bit_by_bit(void **state)
{
    for (int isa = (int)isa_best(); isa <= (int)isa_best_bf16(); isa++) {
        check_repeat(PLAN_FAST, (enum isa)isa);
        check_repeat(PLAN_EXACT, (enum isa)isa);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_of_zero_inputs_equal_the_bias),
        cmocka_unit_test(f4_amplifies_rounding_little),
        cmocka_unit_test(runs_repeat_bit_by_bit),
    };
    return cmocka_run_group_tests_name("winograd_results", tests, NULL, NULL);
}
