/* The ops on blocks of channels against plain loops, one convolution at a time: Winograd's
 * algorithm and direct sums, which are the algorithm with unit matrices.
 *
 * Bounds are derived: each result is a sum that the algorithm forms in another way, and its error
 * is at most (roundings along the longest path + 1) epsilon times the same algorithm on absolute
 * values with absolute matrices. The longest path: two transforms of either operand (at most five
 * additions, a constant that is rounded and a product by it, on each axis), the product, the sum,
 * two transforms of the result. Padding the count covers the bound's own rounding; the reference
 * adds its direct sum. Narrow inputs are rounded before, and bounds are the same. Operands that are rounded to bf16 are each off by a share of at most BF16_OFF
 * more. */
#include "kernels/tests/support.h"

#include "kernels/cast16.h"
#include "kernels/ops/winograd.h"

enum { PATH = 6 * 7 + 2, POINTS = 6, OUTPUTS = 4, INPUTS = 6 };
#define BF16_OFF 0x1p-8

/* F4's points, and the products of their distances from the other ones. */
#define P  0.625
#define Q  1.5
#define PP (P * P)
#define QQ (Q * Q)
#define PD (2 * PP * (PP - QQ))
#define QD (2 * QQ * (QQ - PP))

/* B', G and A' of an axis, from the papers; points, outputs, inputs. */
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

/* to <- the transform along both axes of |from|, with the matrix's absolute values. */
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

/* to [r][s] += the adjoint of that transform */
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

/* One convolution and what a call needs. */
struct setup {
    struct net_desc desc;
    const struct op_kernel *op;
    const struct layer_desc *conv;
    struct extent read[2];
    struct fused_layers fused;
    struct winograd w;
    int n;
    real *x, *dy, *params;                         /* [N,C,H,W] */
    real *y, *dx, *dparams, *blocked, *blocked_dx; /* results, and x and dx in blocks */
    uint16_t *codes;                               /* x in blocks where values are narrow */
    double *bound_y, *bound_dx, *bound_dw;
    void *saved, *scratch;
    struct pool *pool;
    struct exec ex;
};

static void setup_begin(struct setup *r, struct shape in, int channels, int pad, int n,
                        enum plan plan, enum isa isa, int threads)
{
    *r = (struct setup){.n = n, .op = plan == PLAN_EXACT ? &op_direct_last : &op_winograd_last};
    begin_net(&r->desc, "one", in, 2);
    add_layer(&r->desc, conv2d_layer(channels, 3, 3, 1, pad));
    r->conv = r->desc.layers;
    r->read[0] = (struct extent){.h = in.h, .w = in.w};
    r->read[1] = (struct extent){.h = r->conv->out.h, .w = r->conv->out.w};
    r->fused = (struct fused_layers){.layers = r->conv,
                                     .n_layers = 1,
                                     .read = r->read,
                                     .plan = plan,
                                     .in = LAYOUT_BLOCKED,
                                     .out = LAYOUT_NCHW,
                                     .isa = isa,
                                     .wants_input = true};
    r->w = winograd_of(&r->fused);
    size_t x = (size_t)n * shape_count(in), y = (size_t)n * shape_count(r->conv->out);
    size_t blocked = (size_t)n * winograd_in(&r->w);
    r->x = random_reals(x, 1);
    r->dy = random_reals(y, 2);
    r->params = random_reals(r->desc.n_params, 3);
    r->y = random_reals(y, 4);
    r->dx = random_reals(x, 5);
    r->dparams = random_reals(r->desc.n_params, 6);
    r->blocked = mem_alloc(blocked * sizeof(real));
    r->blocked_dx = random_reals(blocked, 7);
    r->bound_y = mem_alloc(y * sizeof(double));
    r->bound_dx = mem_alloc(x * sizeof(double));
    r->bound_dw = mem_alloc(r->desc.n_params * sizeof(double));
    r->saved = mem_alloc(r->op->saved_bytes(&r->fused, n));
    r->scratch = mem_alloc(r->op->scratch_bytes(&r->fused, n, threads));
    r->pool = make_pool(threads);
    r->ex = (struct exec){.pool = r->pool, .training = true};
}

static const struct cast16 *cast_of(enum precision values)
{
    const struct cast16_functions *f = cast16_get(ISA_PORTABLE);
    return values == PRECISION_fp16 ? &f->fp16 : &f->bf16;
}

/* From here on the op reads values of 16 bits, and x is what these are. */
static void setup_narrow(struct setup *r, enum precision values)
{
    const struct cast16 *cast = cast_of(values);
    size_t n = (size_t)r->n * shape_count(r->conv->in);
    r->fused.values = values;
    r->w = winograd_of(&r->fused);
    r->codes = mem_alloc((size_t)r->n * winograd_in(&r->w) * sizeof *r->codes);
    cast->encode(r->codes, r->x, n, 1);
    cast->decode(r->x, r->codes, n, 1);
}

/* Memory as r->blocked takes it. */
static const real *narrow_input(struct setup *r)
{
    cast_of(r->fused.values)->encode(r->codes, r->blocked, (size_t)r->n * winograd_in(&r->w), 1);
    return (const real *)(void *)r->codes;
}

static void setup_end(struct setup *r)
{
    void *all[] = {r->codes,    r->x,        r->dy,      r->params,     r->y,
                   r->dx,       r->dparams,  r->blocked, r->blocked_dx, r->bound_y,
                   r->bound_dx, r->bound_dw, r->saved,   r->scratch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mem_free(all[i]);
    pool_destroy(r->pool);
    net_desc_free(&r->desc);
}

/* Where number (i, c, h, w) of x lies in blocks. */
static size_t blocked_at(const struct winograd *w, struct shape in, int i, int c, int row,
                         int column)
{
    size_t block = (size_t)w->block, plane = (size_t)in.h * (size_t)in.w;
    size_t position = (size_t)row * (size_t)in.w + (size_t)column;
    return (((size_t)i * (size_t)w->in_blocks + (size_t)c / block) * plane + position) * block +
           (size_t)c % block;
}

static void copy_blocks(struct setup *r, real *planes, real *blocked, bool to_blocks)
{
    struct shape in = r->conv->in;
    for (int i = 0; i < r->n; i++)
        for (int c = 0; c < in.c; c++)
            for (int h = 0; h < in.h; h++)
                for (int w = 0; w < in.w; w++, planes++) {
                    real *at = blocked + blocked_at(&r->w, in, i, c, h, w);
                    if (to_blocks)
                        *at = *planes;
                    else
                        *planes = *at;
                }
}

static void setup_run(struct setup *r)
{
    struct op_call call = {.ex = &r->ex,
                           .n = r->n,
                           .x = r->blocked,
                           .y = r->y,
                           .dy = r->dy,
                           .dx = r->blocked_dx,
                           .params = r->params,
                           .dparams = r->dparams,
                           .saved = r->saved,
                           .scratch = r->scratch};
    copy_blocks(r, r->x, r->blocked, true);
    if (r->fused.values != PRECISION_fp32)
        call.x = narrow_input(r);
    r->op->forward(&r->fused, &call);
    r->op->backward(&r->fused, &call);
    copy_blocks(r, r->dx, r->blocked_dx, false);
}

static void setup_run_reference(struct setup *r)
{
    const struct layer_kernel *kernel = layer_kernel_get(LAYER_conv2d, PLAN_REFERENCE);
    struct layer_call call = {.ex = &r->ex,
                              .layer = r->conv,
                              .n = r->n,
                              .y = r->y,
                              .x = r->x,
                              .dx = r->dx,
                              .dy = r->dy,
                              .params = r->params,
                              .dparams = r->dparams};
    assert_int_equal(layer_scratch_bytes(kernel, r->conv, r->n, 1), 0);
    kernel->forward(&call);
    kernel->backward(&call);
}

/* Copies a window of `size` of a plane of h by w, zeros outside, or adds one back. */
static void cut(double *to, int size, const real *plane, int h, int w, int row, int column)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            to[i * size + j] = row + i >= 0 && row + i < h && column + j >= 0 && column + j < w
                                   ? (double)plane[(row + i) * w + column + j]
                                   : 0;
}

static void paste_add(double *plane, int h, int w, int row, int column, const double *from,
                      int size)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            if (row + i >= 0 && row + i < h && column + j >= 0 && column + j < w)
                plane[(row + i) * w + column + j] += from[i * size + j];
}

/* What one tile of image i adds to the bounds, for channels c and o. */
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

/* Fills the bounds but for the factor of epsilon. */
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

/* How far a sum may be off for each 1 of its bound: by so many roundings, and by those of its operands. */
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

struct conv_case {
    struct shape in;
    int channels, pad, n;
    enum winograd_kind kind;
};

static const struct conv_case cases[] = {
    {{1, 3, 3}, 1, 0, 1, WINOGRAD_F2},   {{3, 4, 4}, 5, 0, 7, WINOGRAD_F2},
    {{5, 10, 10}, 3, 0, 3, WINOGRAD_F4}, {{7, 5, 11}, 2, 1, 2, WINOGRAD_F4},
    {{2, 2, 2}, 3, 1, 5, WINOGRAD_T2},   {{33, 2, 2}, 41, 1, 3, WINOGRAD_T2},
    {{2, 7, 3}, 3, 4, 2, WINOGRAD_F4},   {{35, 6, 6}, 17, 1, 4, WINOGRAD_F2},
    {{3, 2, 3}, 2, 2, 13, WINOGRAD_F4},  {{259, 2, 2}, 2, 1, 2, WINOGRAD_T2},
    {{2, 3, 5}, 261, 1, 1, WINOGRAD_F4}, {{2, 4, 4}, 3, 1, 101, WINOGRAD_F4},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void check_case(const struct conv_case *c, enum plan plan, enum isa isa, int threads,
                       enum precision values)
{
    double path = plan == PLAN_EXACT ? 3 : PATH;
    struct setup fast, reference;
    setup_begin(&fast, c->in, c->channels, c->pad, c->n, plan, isa, threads);
    setup_begin(&reference, c->in, c->channels, c->pad, c->n, plan, isa, 1);
    if (values != PRECISION_fp32) {
        setup_narrow(&fast, values);
        setup_narrow(&reference, values);
    }
    assert_int_equal(fast.w.kind, plan == PLAN_EXACT ? CONV_DIRECT : c->kind);
    setup_run(&fast);
    setup_run_reference(&reference);
    bound_all(&fast);
    struct shape out = fast.conv->out;
    size_t x = (size_t)c->n * shape_count(c->in), y = (size_t)c->n * shape_count(out);
    const struct winograd *w = &fast.w;
    assert_bounded("y", fast.y, reference.y, fast.bound_y, y, factor_of(w, TAPS * c->in.c + path));
    assert_bounded("dx", fast.dx, reference.dx, fast.bound_dx, x,
                   factor_of(w, TAPS * c->channels + path));
    assert_bounded("dw", fast.dparams, reference.dparams, fast.bound_dw, fast.desc.n_params,
                   factor_of(w, (double)c->n * out.h * out.w + path));
    setup_end(&fast);
    setup_end(&reference);
}

static void check_cases(enum plan plan)
{
    for (int i = 0; i < CASES; i++)
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best_bf16(); isa++)
            for (int threads = 1; threads <= 3; threads++)
                check_case(&cases[i], plan, (enum isa)isa, threads, PRECISION_fp32);
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
                    check_case(&cases[i], (enum plan)plan, (enum isa)isa, 2, values);
}

/* Leaves a seventh of the positions of x, and of half of these one channel only. */
static void blank_most(struct setup *r)
{
    struct shape in = r->conv->in;
    size_t plane = (size_t)in.h * (size_t)in.w;
    for (size_t at = 0; at < (size_t)r->n * shape_count(in); at++) {
        size_t image = at / shape_count(in), channel = at / plane % (size_t)in.c;
        uint32_t word =
            rng_word(8, 99, 0, (uint32_t)image, (uint32_t)(at % plane)); /* of the position */
        bool all = word & 1, this = word / 14 % (uint32_t)in.c == channel;
        if (word / 2 % 7 != 0 || !(all || this))
            r->x[at] = 0;
    }
}

/* Whether the nine inputs of output (row, column) of image i are zero in all channels. */
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

/* Returns how many outputs see nothing. */
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

/* Of each precision with so many threads. */
static void what_sees_zeros_is_its_bias(void **state)
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

/* Output (i, o, row, column) by direct sums that round nothing that counts. */
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

/* In mean square each rounding is off by at most a third of a squared half epsilon. A chain of K
 * sums has K/2 such roundings of its end's size, transforms of operands add at most 7 on each of
 * four axes, and F4 lets 4.8 times what these amount to through (winograd_axis.h); what its last
 * transform rounds is small beside that. Both operands of bf16 are off by a third of BF16_OFF squared. */
static void f4_lets_little_rounding_through(void **state)
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
    setup_run(&b); /* nothing of the first is left over */
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

/* What was there stays and the new gradient comes on top, in one rounding more. */
static void check_accumulate(enum plan plan, enum isa isa, int threads)
{
    for (int i = 0; i < CASES; i++) {
        const struct conv_case *c = &cases[i];
        struct setup once, added;
        setup_begin(&once, c->in, c->channels, c->pad, c->n, plan, isa, threads);
        setup_begin(&added, c->in, c->channels, c->pad, c->n, plan, isa, threads);
        added.ex.accumulate = true;
        real *before = random_reals(added.desc.n_params, 6); /* as setup_begin left it */
        setup_run(&once);
        setup_run(&added);
        bound_all(&once);
        for (size_t j = 0; j < once.desc.n_params; j++) {
            once.bound_dw[j] += fabs((double)before[j]);
            before[j] += once.dparams[j];
        }
        assert_bounded("dw", added.dparams, before, once.bound_dw, once.desc.n_params,
                       2 * REAL_EPSILON);
        mem_free(before);
        setup_end(&once);
        setup_end(&added);
    }
}

static void accumulate_adds_to_gradients(void **state)
{
    for (int threads = 1; threads <= 2; threads++)
        for (int isa = (int)isa_best(); isa <= (int)isa_best_bf16(); isa++) {
            check_accumulate(PLAN_FAST, (enum isa)isa, threads);
            check_accumulate(PLAN_EXACT, (enum isa)isa, threads);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_within_its_bound),
        cmocka_unit_test(direct_sums_are_within_their_bound),
        cmocka_unit_test(narrow_inputs_change_no_bound),
        cmocka_unit_test(what_sees_zeros_is_its_bias),
        cmocka_unit_test(f4_lets_little_rounding_through),
        cmocka_unit_test(runs_repeat_bit_by_bit),
        cmocka_unit_test(accumulate_adds_to_gradients),
    };
    return cmocka_run_group_tests_name("winograd", tests, NULL, NULL);
}
