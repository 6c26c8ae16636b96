/* Ops on blocks of channels against plain loops, one convolution at a time: Winograd's algorithm,
 * and direct sums as the algorithm with unit matrices.
 *
 * Bounds are derived. Each result is a sum that the algorithm computes in another order. Its error
 * is at most (roundings along the longest path + 1) epsilon times the same algorithm on absolute
 * values with absolute matrices. The longest path has two transforms of either operand, the
 * product, the sum, and two transforms of the result. A transform has at most five additions, a
 * rounded constant and a product by it, on each axis. Padding of the count covers the bound's own
 * rounding; the reference adds its direct sum. 16-bit inputs are rounded beforehand, so the bounds
 * are the same. Operands rounded to bf16 are each off by a share of at most BF16_OFF more. */
#include "kernels/ops/tests/winograd_setup.h"

enum { PATH = 6 * 7 + 2, POINTS = 6, OUTPUTS = 4, INPUTS = 6 };

/* F4's points, and the products of their distances from the other points. */
#define P  0.625
#define Q  1.5
#define PP (P * P)
#define QQ (Q * Q)
#define PD (2 * PP * (PP - QQ))
#define QD (2 * QQ * (QQ - PP))

/* B', G and A' of one axis, from the papers; numbers of points, outputs, inputs. */
struct axis {
    int p, m, t;
    double b[POINTS][INPUTS], g[POINTS][3], a[OUTPUTS][POINTS];
};

static const struct axis axes[] = {
    [WINOGRAD_F4] = {6,
                     4,
                     6,
                     {{1, 0, -(PP + QQ) / PP / QQ, 0, 1 / PP / QQ, 0},
                      {0, -P *QQ / PD, -QQ / PD, P / PD, 1 / PD, 0},
                      {0, P *QQ / PD, -QQ / PD, -P / PD, 1 / PD, 0},
                      {0, -Q *PP / QD, -PP / QD, Q / QD, 1 / QD, 0},
                      {0, Q *PP / QD, -PP / QD, -Q / QD, 1 / QD, 0},
                      {0, PP *QQ, 0, -(PP + QQ), 0, 1}},
                     {{1, 0, 0}, {1, P, PP}, {1, -P, PP}, {1, Q, QQ}, {1, -Q, QQ}, {0, 0, 1}},
                     {{1, 1, 1, 1, 1, 0},
                      {0, P, -P, Q, -Q, 0},
                      {0, PP, PP, QQ, QQ, 0},
                      {0, P *PP, -P *PP, Q *QQ, -Q *QQ, 1}}},
    [WINOGRAD_F2] = {4,
                     2,
                     4,
                     {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                     {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                     {{1, 1, 1, 0}, {0, 1, -1, -1}}},
    [WINOGRAD_T2] = {3,
                     2,
                     2,
                     {{1, 1}, {0, 1}, {1, 0}},
                     {{0, 1, 0}, {0, -1, 1}, {1, -1, 0}},
                     {{1, 1, 0}, {1, 0, 1}}},
    [CONV_DIRECT] = {3,
                     1,
                     3,
                     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                     {{1, 1, 1}}},
};

/* to <- the transform of |from| along both axes, with absolute values of the matrix. */
static void transform(double to[POINTS][POINTS], const struct axis *k, const double *matrix,
                      int row_size, int inputs, const double *from, int from_row, bool transposed)
{
    for (int i = 0; i < k->p; i++) {
        for (int j = 0; j < k->p; j++) {
            to[i][j] = 0;
            for (int r = 0; r < inputs; r++) {
                for (int s = 0; s < inputs; s++) {
                    double a = transposed ? matrix[r * row_size + i] : matrix[i * row_size + r];
                    double b = transposed ? matrix[s * row_size + j] : matrix[j * row_size + s];
                    to[i][j] += fabs(a * b) * fabs(from[r * from_row + s]);
                }
            }
        }
    }
}

/* to [r][s] += the adjoint of `transform`. */
static void transform_back(double *to, int to_row, const struct axis *k, const double *matrix,
                           int row_size, int outputs, double from[POINTS][POINTS], bool transposed)
{
    for (int r = 0; r < outputs; r++) {
        for (int s = 0; s < outputs; s++) {
            for (int i = 0; i < k->p; i++) {
                for (int j = 0; j < k->p; j++) {
                    double a = transposed ? matrix[r * row_size + i] : matrix[i * row_size + r];
                    double b = transposed ? matrix[s * row_size + j] : matrix[j * row_size + s];
                    to[r * to_row + s] += fabs(a * b) * from[i][j];
                }
            }
        }
    }
}

/* Adds a window to a plane. */
static void paste_add(double *plane, int h, int w, int row, int column, const double *from,
                      int size)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            if (row + i >= 0 && row + i < h && column + j >= 0 && column + j < w)
                plane[(row + i) * w + column + j] += from[i * size + j];
}

/* Adds the contribution of one tile of image i to the bounds, for channels c and o. */
static void bound_tile(struct setup *r, int i, int c, int o, int row, int column)
{
    const struct axis *k = &axes[r->w.kind];
    struct shape in = r->conv->in, out = r->conv->out;
    size_t x_plane = (size_t)(i * in.c + c) * (size_t)(in.h * in.w);
    size_t y_plane = (size_t)(i * out.c + o) * (size_t)(out.h * out.w);
    size_t kernel = (size_t)(o * in.c + c) * TAPS;
    double d[INPUTS * INPUTS], dy[OUTPUTS * OUTPUTS], g[TAPS], u[POINTS][POINTS], v[POINTS][POINTS];
    double dm[POINTS][POINTS], product[POINTS][POINTS];
    double y[OUTPUTS * OUTPUTS] = {0}, dx[INPUTS * INPUTS] = {0};
    int x_row = r->w.origin_h + row, x_column = r->w.origin_w + column;
    cut(d, k->t, r->x + x_plane, in.h, in.w, x_row, x_column);
    cut(dy, k->m, r->dy + y_plane, out.h, out.w, row, column);
    for (int t = 0; t < TAPS; t++)
        g[t] = (double)r->params[kernel + (size_t)t];
    transform(v, k, k->b[0], INPUTS, k->t, d, k->t, false);
    transform(u, k, k->g[0], 3, 3, g, 3, false);
    transform(dm, k, k->a[0], POINTS, k->m, dy, k->m, true);
#define EACH_PRODUCT(a, b)                                                                         \
    for (int p = 0; p < k->p; p++)                                                                 \
        for (int q = 0; q < k->p; q++)                                                             \
            product[p][q] = a[p][q] * b[p][q];
    EACH_PRODUCT(u, v)
    transform_back(y, k->m, k, k->a[0], POINTS, k->m, product, true);
    paste_add(r->bound_y + y_plane, out.h, out.w, row, column, y, k->m);
    EACH_PRODUCT(u, dm)
    transform_back(dx, k->t, k, k->b[0], INPUTS, k->t, product, false);
    paste_add(r->bound_dx + x_plane, in.h, in.w, x_row, x_column, dx, k->t);
    EACH_PRODUCT(v, dm)
    transform_back(r->bound_dw + kernel, 3, k, k->g[0], 3, 3, product, false);
}

/* Computes all bounds, in epsilons. */
static void bound_all(struct setup *r)
{
    struct shape in = r->conv->in, out = r->conv->out;
    size_t plane = (size_t)(out.h * out.w), weights = (size_t)(TAPS * in.c * out.c);
    for (int i = 0; i < r->n; i++)
        for (int o = 0; o < out.c; o++) {
            for (size_t p = 0; p < plane; p++) {
                size_t at = (size_t)(i * out.c + o) * plane + p;
                r->bound_y[at] += fabs((double)r->params[weights + (size_t)o]);
                r->bound_dw[weights + (size_t)o] += fabs((double)r->dy[at]);
            }
            for (int c = 0; c < in.c; c++)
                for (int row = 0; row < out.h; row += r->w.outputs)
                    for (int column = 0; column < out.w; column += r->w.outputs)
                        bound_tile(r, i, c, o, row, column);
        }
}

/* Returns the factor of a bound: `roundings`, plus the rounding of bf16 operands. */
static double factor_of(const struct winograd *w, double roundings)
{
    double off = w->pair == 1 ? 0 : 2 * BF16_OFF + BF16_OFF * BF16_OFF;
    return roundings * REAL_EPSILON * (1 + off) + off;
}

static void assert_bounded(const char *what, const real *a, const real *b, const double *bound,
                           size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= factor * bound[i]))
            fail_msg("%s[%zu]: %.17g and %.17g differ by more than %.3g", what, i, (double)a[i],
                     (double)b[i], factor * bound[i]);
}

static void begin_case(struct setup *r, const struct conv_case *c, enum plan plan, enum isa isa,
                       int threads, enum precision values)
{
    setup_begin(r, c->in, c->channels, c->pad, c->n, plan, isa, threads);
    if (values != PRECISION_fp32)
        setup_narrow(r, values);
}

/* Runs the op and compares it with the reference and its bounds. */
static void check_run(const struct setup *reference, const struct conv_case *c, enum plan plan,
                      enum isa isa, int threads, enum precision values)
{
    double path = plan == PLAN_EXACT ? 3 : PATH;
    struct setup fast;
    begin_case(&fast, c, plan, isa, threads, values);
    assert_int_equal(fast.w.kind, plan == PLAN_EXACT ? CONV_DIRECT : c->kind);
    setup_run(&fast);
    struct shape out = fast.conv->out;
    size_t x = (size_t)c->n * shape_count(c->in), y = (size_t)c->n * shape_count(out);
    const struct winograd *w = &fast.w;
    assert_bounded("y", fast.y, reference->y, reference->bound_y, y,
                   factor_of(w, TAPS * c->in.c + path));
    assert_bounded("dx", fast.dx, reference->dx, reference->bound_dx, x,
                   factor_of(w, TAPS * c->channels + path));
    assert_bounded("dw", fast.dparams, reference->dparams, reference->bound_dw, fast.desc.n_params,
                   factor_of(w, (double)c->n * out.h * out.w + path));
    setup_end(&fast);
}

/* Runs the plain loops once for all numbers of threads. */
static void check_case(const struct conv_case *c, enum plan plan, enum isa isa, int first_threads,
                       int last_threads, enum precision values)
{
    struct setup reference;
    begin_case(&reference, c, plan, isa, 1, values);
    setup_run_reference(&reference);
    bound_all(&reference);
    for (int threads = first_threads; threads <= last_threads; threads++)
        check_run(&reference, c, plan, isa, threads, values);
    setup_end(&reference);
}

static void check_cases(enum plan plan)
{
    for (int i = 0; i < CASES; i++)
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best_bf16(); isa++)
            check_case(&cases[i], plan, (enum isa)isa, 1, 3, PRECISION_fp32);
}

static void every_kind_is_within_its_bound(void **state)
{
    check_cases(PLAN_FAST);
}

static void direct_sums_are_within_their_bound(void **state)
{
    check_cases(PLAN_EXACT);
}

static void narrow_inputs_change_no_bound(void **state)
{
    if (sizeof(real) != sizeof(float))
        skip();
    for (int plan = PLAN_FAST; plan <= PLAN_EXACT; plan++)
        for (int i = 0; i < CASES; i++)
            for (int isa = ISA_PORTABLE; isa <= (int)isa_best_bf16(); isa++)
                for (enum precision values = PRECISION_bf16; values < PRECISIONS; values++)
                    check_case(&cases[i], (enum plan)plan, (enum isa)isa, 2, 2, values);
}

/* Compares the gradient added to random values with the sum of both. `bounds` has the bound of that
 * sum. */
static void check_added(const struct setup *bounds, const struct conv_case *c, enum plan plan,
                        enum isa isa, int threads)
{
    struct setup once, added;
    setup_begin(&once, c->in, c->channels, c->pad, c->n, plan, isa, threads);
    setup_begin(&added, c->in, c->channels, c->pad, c->n, plan, isa, threads);
    added.ex.accumulate = true;
    real *sum = random_reals(added.desc.n_params, 6); /* values of added.dparams before the run */
    setup_run(&once);
    setup_run(&added);
    for (size_t j = 0; j < once.desc.n_params; j++)
        sum[j] += once.dparams[j];
    assert_bounded("dw", added.dparams, sum, bounds->bound_dw, once.desc.n_params,
                   2 * REAL_EPSILON);
    mem_free(sum);
    setup_end(&once);
    setup_end(&added);
}

/* New gradients are added to the old values, with one more rounding. */
static void check_accumulate(enum plan plan, enum isa isa)
{
    for (int i = 0; i < CASES; i++) {
        const struct conv_case *c = &cases[i];
        struct setup bounds;
        setup_begin(&bounds, c->in, c->channels, c->pad, c->n, plan, isa, 1);
        bound_all(&bounds);
        for (size_t j = 0; j < bounds.desc.n_params; j++)
            bounds.bound_dw[j] += fabs((double)bounds.dparams[j]);
        for (int threads = 1; threads <= 2; threads++)
            check_added(&bounds, c, plan, isa, threads);
        setup_end(&bounds);
    }
}

static void accumulate_adds_to_gradients(void **state)
{
    for (int isa = (int)isa_best(); isa <= (int)isa_best_bf16(); isa++) {
        check_accumulate(PLAN_FAST, (enum isa)isa);
        check_accumulate(PLAN_EXACT, (enum isa)isa);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_within_its_bound),
        cmocka_unit_test(direct_sums_are_within_their_bound),
        cmocka_unit_test(narrow_inputs_change_no_bound),
        cmocka_unit_test(accumulate_adds_to_gradients),
    };
    return cmocka_run_group_tests_name("winograd", tests, NULL, NULL);
}
