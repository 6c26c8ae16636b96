/* Sums and convolutions by plain loops, with the variances of their errors: see plain_net.h. */
#pragma once

#include "kernels/tests/support.h"

#include <float.h>
#include <stdlib.h>

enum { PLAIN_LAYERS_MAX = 40, PATH = 44, TILE = 4, SEEN = 6 };

/* Gains of F(4, 3) for three taps. They are sums over the points p: of A_ip^2 |B_p|^2 |G_p|^2 / 3,
 * of G_pt^2 |B_p|^2 |A_p|^2 / 4 and, at most, of B_pr^2 |G_p|^2 |A_p|^2 / 3. Squares of the rows of
 * B': 11.3 4 4 0.054 0.054 8.7; of G: 1 1.54 1.54 8.3 8.3 1. Squares of the columns of A': 1 1.6
 * 1.6 19.7 19.7 1. Other kinds have smaller gains. F(2, 5), along rows only, has 24/5 and 99/5. */
static const double gain_output[TILE] = {8.2, 2.3, 2.1, 6.5}, gain_weight[3] = {6.6, 2.4, 5.3};
static const double gain_input = 7.2, gain_row = 20;

/* Numbers [N,C,H,W] and the variances of their errors. */
struct plain {
    double *x, *var;
};

struct plain_net {
    const struct net_desc *desc;
    int n;
    bool transforms; /* the fast plan may use transforms */
    const real *params;
    const uint8_t *images, *labels;
    const real *weights; /* [n], 0 for padding; NULL: all images count */
    uint64_t seed;
    uint32_t epoch;
    struct plain value[PLAIN_LAYERS_MAX + 1], gradient[PLAIN_LAYERS_MAX + 1], grads;
    double *size;   /* magnitudes that the images' numbers are computed from: |byte part| +
                     * |shift| */
    double nearest; /* smallest distance of an inexact number from a kink of ReLU or pooling, in
                     * standard deviations of its error */
};

static inline struct plain plain_alloc(size_t n)
{
    struct plain p = {calloc(n + 1, sizeof *p.x), calloc(n + 1, sizeof *p.var)};
    assert_true(p.x && p.var);
    return p;
}

static inline void plain_free(struct plain *p)
{
    free(p->x);
    free(p->var);
}

/* Returns 1 if the image counts, 0 for padding. */
static inline double plain_counts(const struct plain_net *p, int i)
{
    return p->weights == NULL || p->weights[i] != 0 ? 1 : 0;
}

static inline double square(double x)
{
    return x * x;
}

/* A sum of products, with the data its error bound needs. */
struct sum {
    double x, var, squares;
    size_t terms;
};

/* Adds a b; the rounded terms have magnitude `size`. */
static inline void sum_add(struct sum *s, double a, double var_a, double b, double var_b,
                           double size)
{
    s->x += a * b;
    s->var += a * a * var_b + b * b * var_a;
    s->squares += size * size;
    s->terms++;
}

static inline double sum_var(const struct sum *s, double offset, double extra)
{
    double own = s->squares + square(s->x) + offset * offset;
    if (s->squares == 0)
        return s->var;
    return s->var + (double)(s->terms + PATH) * (own + extra);
}

static inline size_t plain_at(struct shape s, int i, int c, int h, int w)
{
    return (((size_t)i * (size_t)s.c + (size_t)c) * (size_t)s.h + (size_t)h) * (size_t)s.w +
           (size_t)w;
}

static inline bool plain_has(struct shape s, int h, int w)
{
    return h >= 0 && h < s.h && w >= 0 && w < s.w;
}

/* Returns the sum of squares of a window of a plane. Unless `var` is NULL, adds the squares of 16
 * standard deviations of the errors: transforms also process numbers that should be 0. Outside the
 * plane all is 0. */
static inline double plain_energy(const double *x, const double *var, struct shape s, int i, int c,
                                  int top, int left, int rows, int columns)
{
    double sum = 0;
    for (int h = top; h < top + rows; h++)
        for (int w = left; w < left + columns; w++)
            if (plain_has(s, h, w)) {
                size_t at = plain_at(s, i, c, h, w);
                sum += square(x[at]) + (var != NULL ? square(8 * REAL_EPSILON) * var[at] : 0);
            }
    return sum;
}

static inline bool plain_is_3x3(const struct layer_desc *l)
{
    return l->kernel_h == 3 && l->kernel_w == 3 && l->stride_h == 1 && l->stride_w == 1;
}

/* Returns the sum of squares of a channel's inputs in the tile of output (h, w), per tap, times the
 * transforms' gains. */
static inline double output_energy(const struct layer_desc *l, const double *size, int i, int c,
                                   int h, int w)
{
    if (plain_is_3x3(l))
        return gain_output[h % TILE] * gain_output[w % TILE] / (SEEN * SEEN) *
               plain_energy(size, NULL, l->in, i, c, h / TILE * TILE - l->pad_h,
                            w / TILE * TILE - l->pad_w, SEEN, SEEN);
    if (l->kernel_h == 5 && l->kernel_w == 5)
        return gain_row / (5 * SEEN) * plain_energy(size, NULL, l->in, i, c, h, w / 2 * 2, 5, SEEN);
    return 0;
}

/* Returns the sum of squares of dy in the tiles of an input, up to two along each axis, times the
 * transforms' gains. */
static inline double input_energy(const struct layer_desc *l, const struct plain *dy, int i, int o,
                                  int row, int column)
{
    int h = row + l->pad_h, w = column + l->pad_w;
    int above = h % TILE < 2 ? TILE : 0, before = w % TILE < 2 ? TILE : 0;
    return gain_input * gain_input / (TILE * TILE) *
           plain_energy(dy->x, dy->var, l->out, i, o, h / TILE * TILE - above,
                        w / TILE * TILE - before, TILE + above, TILE + before);
}

/* Returns [out_c,in_c]: the sums of squares of the kernels. */
static inline double *kernel_squares(const struct layer_desc *l, const real *weights)
{
    int taps = l->kernel_h * l->kernel_w;
    double *sums = calloc((size_t)(l->out.c * l->in.c), sizeof *sums);
    assert_non_null(sums);
    for (int i = 0; i < l->out.c * l->in.c * taps; i++)
        sums[i / taps] += square((double)weights[i]);
    return sums;
}

/* Calls DO for each tap (index `tap`) that connects input (row, column) with output (h, w). */
#define EACH_TAP(l, h, w, ...)                                                                     \
    for (int r_ = 0; r_ < (l)->kernel_h; r_++)                                                     \
        for (int s_ = 0; s_ < (l)->kernel_w; s_++) {                                               \
            const int row = (h) * (l)->stride_h - (l)->pad_h + r_;                                 \
            const int column = (w) * (l)->stride_w - (l)->pad_w + s_;                              \
            __attribute__((unused)) const int tap = r_ * (l)->kernel_w + s_;                       \
            if (plain_has((l)->in, row, column)) {                                                 \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        }
#define EACH_OUTPUT(l)                                                                             \
    for (int i = 0; i < p->n; i++)                                                                 \
        for (int o = 0; o < (l)->out.c; o++)                                                       \
            for (int h = 0; h < (l)->out.h; h++)                                                   \
                for (int w = 0; w < (l)->out.w; w++)

/* Returns output_energy [N,in_c,out.h,out.w] or, if dy is given, input_energy [N,out_c,in.h,in.w].
 * All 0 without transforms. */
static inline double *conv_energies(const struct plain_net *p, const struct layer_desc *l,
                                    const double *size, const struct plain *dy)
{
    bool of_input = dy != NULL;
    struct shape s = of_input ? (struct shape){l->out.c, l->in.h, l->in.w}
                              : (struct shape){l->in.c, l->out.h, l->out.w};
    double *energy = calloc((size_t)p->n * shape_count(s), sizeof *energy);
    assert_non_null(energy);
    for (int i = 0; i < p->n && p->transforms && (!of_input || plain_is_3x3(l)); i++)
        for (int c = 0; c < s.c; c++)
            for (int h = 0; h < s.h; h++)
                for (int w = 0; w < s.w; w++)
                    energy[plain_at(s, i, c, h, w)] = of_input ? input_energy(l, dy, i, c, h, w)
                                                               : output_energy(l, size, i, c, h, w);
    return energy;
}

static inline void conv_forward(struct plain_net *p, const struct layer_desc *l, struct plain y,
                                struct plain x, const double *size, const real *weights)
{
    const real *bias = weights + l->out.c * l->in.c * l->kernel_h * l->kernel_w;
    double *squares = kernel_squares(l, weights), *energy = conv_energies(p, l, size, NULL);
    EACH_OUTPUT(l)
    {
        struct sum s = {0};
        double extra = 0;
        for (int c = 0; c < l->in.c; c++) {
            extra += squares[o * l->in.c + c] *
                     energy[plain_at((struct shape){l->in.c, l->out.h, l->out.w}, i, c, h, w)];
            const real *kernel = weights + (o * l->in.c + c) * l->kernel_h * l->kernel_w;
            EACH_TAP(l, h, w, {
                size_t at = plain_at(l->in, i, c, row, column);
                double k = (double)kernel[tap];
                sum_add(&s, x.x[at], x.var[at], k, 0, k * size[at]);
            })
        }
        size_t at = plain_at(l->out, i, o, h, w);
        double b = l->without_bias ? 0 : (double)bias[o];
        y.x[at] = s.x + b;
        y.var[at] = sum_var(&s, b, extra);
    }
    free(squares);
    free(energy);
}

/* Returns the variance that transforms add to the gradient of a kernel: products of squares, summed
 * over tiles. */
static inline double weight_extra(const struct plain_net *p, const struct layer_desc *l,
                                  const double *size, const struct plain *dy, int o, int c)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++)
        for (int h = 0; h < l->out.h; h += TILE)
            for (int w = 0; w < l->out.w; w += TILE)
                sum +=
                    plain_energy(size, NULL, l->in, i, c, h - l->pad_h, w - l->pad_w, SEEN, SEEN) *
                    plain_energy(dy->x, dy->var, l->out, i, o, h, w, TILE, TILE) / (SEEN * SEEN);
    return sum;
}

static inline void conv_backward_weights(struct plain_net *p, const struct layer_desc *l,
                                         struct plain dw, struct plain dy, struct plain x,
                                         const double *size)
{
    int taps = l->kernel_h * l->kernel_w;
    bool transforms = p->transforms && plain_is_3x3(l);
    struct sum *sums = calloc((size_t)(l->out.c * (l->in.c * taps + 1)), sizeof *sums);
    struct sum *bias = sums + l->out.c * l->in.c * taps;
    assert_non_null(sums);
    EACH_OUTPUT(l)
    {
        size_t from = plain_at(l->out, i, o, h, w);
        double d = dy.x[from], var = dy.var[from];
        sum_add(&bias[o], d, var, 1, 0, d);
        for (int c = 0; c < l->in.c; c++)
            EACH_TAP(l, h, w, {
                size_t at = plain_at(l->in, i, c, row, column);
                sum_add(&sums[(o * l->in.c + c) * taps + tap], x.x[at], x.var[at], d, var,
                        size[at] * d);
            })
    }
    double extra = 0;
    for (int k = 0; k < l->out.c * l->in.c * taps; k++) {
        if (transforms && k % taps == 0)
            extra = weight_extra(p, l, size, &dy, k / taps / l->in.c, k / taps % l->in.c);
        dw.x[k] = sums[k].x;
        dw.var[k] = sum_var(&sums[k], 0, 0) + (double)(sums[k].terms + PATH) * extra *
                                                  gain_weight[k % 9 / 3] * gain_weight[k % 3];
    }
    for (int o = 0; !l->without_bias && o < l->out.c; o++) {
        dw.x[l->out.c * l->in.c * taps + o] = bias[o].x;
        dw.var[l->out.c * l->in.c * taps + o] = sum_var(&bias[o], 0, 0);
    }
    free(sums);
}

static inline void conv_backward_input(struct plain_net *p, const struct layer_desc *l,
                                       struct plain dx, struct plain dy, const real *weights)
{
    size_t n = (size_t)p->n * shape_count(l->in);
    struct sum *sums = calloc(n, sizeof *sums);
    assert_non_null(sums);
    EACH_OUTPUT(l)
    {
        size_t from = plain_at(l->out, i, o, h, w);
        for (int c = 0; c < l->in.c && (dy.x[from] != 0 || dy.var[from] != 0); c++) {
            const real *kernel = weights + (o * l->in.c + c) * l->kernel_h * l->kernel_w;
            EACH_TAP(l, h, w, {
                double k = (double)kernel[tap];
                sum_add(&sums[plain_at(l->in, i, c, row, column)], dy.x[from], dy.var[from], k, 0,
                        k * dy.x[from]);
            })
        }
    }
    double *squares = kernel_squares(l, weights);
    double *energy = conv_energies(p, l, NULL, &dy);
    size_t plane = (size_t)l->in.h * (size_t)l->in.w, in_c = (size_t)l->in.c;
    for (size_t at = 0; at < n; at++) {
        size_t image = at / plane / in_c, c = at / plane % in_c;
        double extra = 0;
        for (size_t o = 0; o < (size_t)l->out.c && plain_is_3x3(l); o++)
            extra +=
                squares[o * in_c + c] * energy[(image * (size_t)l->out.c + o) * plane + at % plane];
        dx.x[at] = sums[at].x;
        dx.var[at] = sum_var(&sums[at], 0, 0) + (double)(9 * l->out.c + PATH) * extra;
    }
    free(squares);
    free(energy);
    free(sums);
}
