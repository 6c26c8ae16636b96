/* A training step by plain loops in double precision, the oracle of test_random_nets.c. It is
 * written from the definitions of the layers and calls none of the project's kernels. Each number
 * has a variance: of the error that the nets under test may make in it, in squares of half an
 * epsilon.
 *
 *   - Errors of the terms of a sum are taken as independent: their variances are added, times the
 *     squares of their factors.
 *   - A sum of k terms t, in any order, adds (k + PATH) (sum t^2 + (sum t)^2): one rounding per term,
 *     of partial sums of that size, and PATH for transforms and scales.
 *   - Winograd's transforms multiply the variance that the numbers of a tile would cause in the terms.
 *     The factors are products of the matrices' sums of squares, one per axis (gain_*, derived below).
 *
 * A variance of 0 means that the number is exact: outputs whose inputs are exact zeros, and the
 * results of ReLU, pooling and dropout on them. */
#pragma once

#include "kernels/tests/plain_conv.h"

static inline void dense_forward(struct plain_net *p, const struct layer_desc *l, struct plain y,
                                 struct plain x, const double *size, const real *weights)
{
    size_t in = shape_count(l->in), out = (size_t)l->out.c;
    for (size_t at = 0; at < (size_t)p->n * out; at++) {
        const real *row = weights + at % out * in;
        double bias = l->without_bias ? 0 : (double)weights[out * in + at % out];
        size_t first = at / out * in;
        struct sum s = {0};
        for (size_t k = 0; k < in; k++)
            sum_add(&s, x.x[first + k], x.var[first + k], (double)row[k], 0,
                    (double)row[k] * size[first + k]);
        y.x[at] = s.x + bias;
        y.var[at] = sum_var(&s, bias, 0);
    }
}

static inline void dense_backward(struct plain_net *p, const struct layer_desc *l, struct plain dx,
                                  struct plain dw, struct plain dy, struct plain x,
                                  const double *size, const real *weights)
{
    size_t in = shape_count(l->in), out = (size_t)l->out.c, n = (size_t)p->n;
    for (size_t o = 0; o < out; o++)
        for (size_t k = 0; k < in + !l->without_bias; k++) {
            struct sum s = {0};
            for (size_t i = 0; i < n; i++) {
                double d = dy.x[i * out + o];
                size_t at = i * in + k;
                if (k < in)
                    sum_add(&s, x.x[at], x.var[at], d, dy.var[i * out + o], size[at] * d);
                else
                    sum_add(&s, 1, 0, d, dy.var[i * out + o], d);
            }
            size_t at = k < in ? o * in + k : in * out + o;
            dw.x[at] = s.x;
            dw.var[at] = sum_var(&s, 0, 0);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < in; k++) {
            struct sum s = {0};
            for (size_t o = 0; o < out; o++) {
                double weight = (double)weights[o * in + k];
                sum_add(&s, dy.x[i * out + o], dy.var[i * out + o], weight, 0,
                        weight * dy.x[i * out + o]);
            }
            dx.x[i * in + k] = s.x;
            dx.var[i * in + k] = sum_var(&s, 0, 0);
        }
}

static inline void note_distance(struct plain_net *p, double distance, double var)
{
    if (var > 0)
        p->nearest = fmin(p->nearest, distance / sqrt(var));
}

static inline void relu_forward(struct plain_net *p, const struct layer_desc *l, struct plain y,
                                struct plain x)
{
    for (size_t i = 0; i < (size_t)p->n * shape_count(l->in); i++) {
        note_distance(p, fabs(x.x[i]), x.var[i]);
        y.x[i] = x.x[i] > 0 ? x.x[i] : 0;
        y.var[i] = x.x[i] > 0 ? x.var[i] : 0;
    }
}

/* Returns the offset of the largest number in the window of output (h, w), the first of equals in
 * row order. Numbers are equal only if all their inputs are equal; then it does not matter to any
 * parameter's gradient which one is chosen. */
static inline size_t find_largest(const struct layer_desc *l, const double *x, int i, int o, int h,
                                  int w)
{
    size_t best = SIZE_MAX;
    EACH_TAP(l, h, w, {
        size_t at = plain_at(l->in, i, o, row, column);
        if (best == SIZE_MAX || x[at] > x[best])
            best = at;
    })
    return best;
}

static inline void maxpool_forward(struct plain_net *p, const struct layer_desc *l, struct plain y,
                                   struct plain x)
{
    EACH_OUTPUT(l)
    {
        size_t best = find_largest(l, x.x, i, o, h, w), to = plain_at(l->out, i, o, h, w);
        EACH_TAP(l, h, w, {
            size_t at = plain_at(l->in, i, o, row, column);
            if (x.x[at] < x.x[best])
                note_distance(p, x.x[best] - x.x[at], x.var[best] + x.var[at]);
        })
        y.x[to] = x.x[best];
        y.var[to] = x.var[best];
    }
}

static inline void maxpool_backward(struct plain_net *p, const struct layer_desc *l,
                                    struct plain dx, struct plain dy, struct plain x)
{
    EACH_OUTPUT(l)
    {
        size_t best = find_largest(l, x.x, i, o, h, w), from = plain_at(l->out, i, o, h, w);
        dx.x[best] += dy.x[from];
        dx.var[best] += dy.var[from] + square(dx.x[best]);
    }
}

/* Computes forward or, with `back`, the adjoint. */
static inline void avgpool(struct plain_net *p, const struct layer_desc *l, struct plain to,
                           struct plain from, bool back)
{
    double share = 1.0 / (l->kernel_h * l->kernel_w);
    EACH_OUTPUT(l)
    {
        size_t out = plain_at(l->out, i, o, h, w);
        struct sum s = {0};
        EACH_TAP(l, h, w, {
            size_t in = plain_at(l->in, i, o, row, column);
            if (back) {
                to.x[in] += from.x[out] * share;
                to.var[in] += square(share) * from.var[out] + 4 * square(from.x[out] * share) +
                              square(to.x[in]);
            } else {
                sum_add(&s, from.x[in], from.var[in], share, 0, from.x[in] * share);
            }
        })
        if (!back) {
            to.x[out] = s.x;
            to.var[out] = sum_var(&s, 0, 0);
        }
    }
}

/* Applies dropout, in forward or backward. */
static inline void drop(struct plain_net *p, const struct layer_desc *l, struct plain to,
                        struct plain from)
{
    double scale = 1 / (1 - l->rate);
    size_t size = l->kind == LAYER_dropout2d ? (size_t)(l->in.h * l->in.w) : 1;
    size_t image = shape_count(l->in);
    for (size_t i = 0; i < (size_t)p->n * image; i++) {
        uint32_t word = rng_word(p->seed, RNG_STREAM(RNG_DROPOUT, l->index), p->epoch,
                                 (uint32_t)(i / image), (uint32_t)(i % image / size));
        bool kept = rng_unit(word) >= l->rate;
        to.x[i] = kept ? from.x[i] * scale : 0;
        to.var[i] = kept ? square(scale) * from.var[i] + 4 * square(to.x[i]) : 0;
    }
}

/* Statistics of a channel: mean, standard deviation, and the variances of both errors;
 * var_deviation is relative. */
struct channel {
    double m, mean, deviation, var_mean, var_deviation;
};

#define EACH_OF_CHANNEL(l, c, ...)                                                                 \
    for (int i_ = 0; i_ < p->n; i_++)                                                              \
        for (int j_ = 0; j_ < (l)->in.h * (l)->in.w; j_++) {                                       \
            const size_t at = plain_at((l)->in, i_, c, 0, j_);                                     \
            __VA_ARGS__;                                                                           \
        }

static inline double plain_counted(const struct plain_net *p)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++)
        sum += plain_counts(p, i);
    return sum;
}

static inline struct channel channel_of(const struct plain_net *p, const struct layer_desc *l,
                                        int c, struct plain x)
{
    struct channel k = {.m = plain_counted(p) * l->in.h * l->in.w};
    double var = 0, sums = (k.m + PATH) * square(DBL_EPSILON / REAL_EPSILON);
    long double sum = 0, squares = 0;
    EACH_OF_CHANNEL(l, c, {
        sum += plain_counts(p, i_) * x.x[at];
        k.var_mean +=
            plain_counts(p, i_) * (x.var[at] / square(k.m) + sums * square(x.x[at]) / k.m);
    })
    k.mean = (double)(sum / k.m);
    EACH_OF_CHANNEL(l, c, {
        squares += plain_counts(p, i_) * square(x.x[at] - k.mean) / k.m;
        var += plain_counts(p, i_) * square((x.x[at] - k.mean) / k.m) * x.var[at];
    })
    double variance = (double)squares;
    k.deviation = sqrt(variance + l->epsilon);
    k.var_deviation =
        (var + (k.var_mean + sums * variance) * variance) / square(variance + l->epsilon) + 8;
    return k;
}

/* Returns a normalised number and sets the variance of its error. An exact 0 stays exact if the
 * mean is 0. */
static inline double normalised(const struct channel *k, double x, double var, double *of)
{
    double z = (x - k->mean) / k->deviation;
    bool exact = x == 0 && var == 0 && k->mean == 0 && k->var_mean == 0;
    double sizes = x * x + square(k->mean);
    *of = exact ? 0
                : (var + k->var_mean + 8 * sizes) / square(k->deviation) +
                      (k->var_deviation + 8) * z * z;
    return z;
}

static inline void norm_forward(struct plain_net *p, const struct layer_desc *l, struct plain y,
                                struct plain x, const real *params)
{
    for (int c = 0; c < l->in.c; c++) {
        struct channel k = channel_of(p, l, c, x);
        double scale = (double)params[c], shift = (double)params[l->in.c + c];
        EACH_OF_CHANNEL(l, c, {
            double var;
            y.x[at] = normalised(&k, x.x[at], x.var[at], &var) * scale + shift;
            y.var[at] = var > 0 ? square(scale) * var + 8 * (square(y.x[at]) + square(shift)) : 0;
        })
    }
}

static inline void norm_backward(struct plain_net *p, const struct layer_desc *l, struct plain dx,
                                 struct plain dw, struct plain dy, struct plain x,
                                 const real *params)
{
    for (int c = 0; c < l->in.c; c++) {
        struct channel k = channel_of(p, l, c, x);
        double gain = (double)params[c] / k.deviation, var;
        struct sum scale = {0}, shift = {0};
        EACH_OF_CHANNEL(l, c, {
            double z = normalised(&k, x.x[at], x.var[at], &var);
            sum_add(&scale, z, var, dy.x[at], dy.var[at], (fabs(z) + sqrt(var) / PATH) * dy.x[at]);
            sum_add(&shift, 1, 0, dy.x[at], dy.var[at], dy.x[at]);
        })
        scale.var += (k.var_deviation + 8) * square(scale.x) +
                     k.var_mean / square(k.deviation) * square(shift.x);
        dw.x[c] = scale.x;
        dw.var[c] = sum_var(&scale, 0, 0);
        dw.x[l->in.c + c] = shift.x;
        dw.var[l->in.c + c] = sum_var(&shift, 0, 0);
        EACH_OF_CHANNEL(l, c, {
            double z = normalised(&k, x.x[at], x.var[at], &var);
            double a = shift.x / k.m, b = scale.x / k.m;
            if (plain_counts(p, i_) == 0)
                continue; /* padding has no gradient */
            dx.x[at] = gain * (dy.x[at] - a - z * b);
            dx.var[at] = square(gain) * (dy.var[at] + dw.var[l->in.c + c] / square(k.m) +
                                         z * z * dw.var[c] / square(k.m) + b * b * var +
                                         16 * (square(dy.x[at]) + a * a + square(z * b))) +
                         (k.var_deviation + 8) * square(dx.x[at]);
        })
    }
}

/* Computes dlogits of the mean loss. An error of one logit changes all probabilities. */
static inline void loss_backward(struct plain_net *p, struct plain d, struct plain logits)
{
    int classes = p->desc->classes;
    for (int i = 0; i < p->n; i++) {
        double most = -DBL_MAX, sum = 0, var = 0;
        const double *z = logits.x + i * classes, *var_z = logits.var + i * classes;
        for (int k = 0; k < classes; k++)
            most = fmax(most, z[k]);
        for (int k = 0; k < classes; k++)
            sum += exp(z[k] - most);
        for (int k = 0; k < classes; k++)
            var += square(exp(z[k] - most) / sum) * (var_z[k] + 8 * square(z[k]));
        for (int k = 0; k < classes; k++) {
            double share = exp(z[k] - most) / sum, one = k == p->labels[i] ? 1 : 0;
            d.x[i * classes + k] = plain_counts(p, i) * (share - one) / p->n;
            d.var[i * classes + k] =
                plain_counts(p, i) *
                (share * share * (var_z[k] + var + 8 * square(z[k]) + 8) + 8 * one) / square(p->n);
        }
    }
}

static inline void plain_load(struct plain_net *p)
{
    const struct net_desc *d = p->desc;
    size_t plane = (size_t)d->input.h * (size_t)d->input.w;
    for (size_t i = 0; i < (size_t)p->n * shape_count(d->input); i++) {
        size_t c = i / plane % (size_t)d->input.c;
        double x = (p->images[i] / 255.0 - d->mean[c]) / d->std[c];
        p->value[0].x[i] = (double)(real)x;
        p->size[i] = x == 0 ? 0 : fabs(x) + 2 * fabs(d->mean[c] / d->std[c]);
        p->value[0].var[i] = 8 * square(p->size[i]);
    }
}

static inline void plain_forward(struct plain_net *p)
{
    const struct net_desc *d = p->desc;
    p->nearest = DBL_MAX;
    plain_load(p);
    for (int i = 0; i < d->n_layers; i++) {
        const struct layer_desc *l = &d->layers[i];
        const real *params = p->params + (l->n_tensors ? d->tensors[l->first_tensor].offset : 0);
        struct plain x = p->value[i], y = p->value[i + 1];
        const double *size = i == 0 ? p->size : x.x;
        if (l->kind == LAYER_conv2d)
            conv_forward(p, l, y, x, size, params);
        else if (l->kind == LAYER_dense)
            dense_forward(p, l, y, x, size, params);
        else if (l->kind == LAYER_batchnorm2d)
            norm_forward(p, l, y, x, params);
        else if (l->kind == LAYER_relu)
            relu_forward(p, l, y, x);
        else if (l->kind == LAYER_maxpool2d)
            maxpool_forward(p, l, y, x);
        else if (l->kind == LAYER_avgpool2d)
            avgpool(p, l, y, x, false);
        else
            drop(p, l, y, x);
    }
}

static inline void plain_backward(struct plain_net *p)
{
    const struct net_desc *d = p->desc;
    loss_backward(p, p->gradient[d->n_layers], p->value[d->n_layers]);
    for (int i = d->n_layers - 1; i >= 0; i--) {
        const struct layer_desc *l = &d->layers[i];
        size_t offset = l->n_tensors ? d->tensors[l->first_tensor].offset : 0;
        const real *params = p->params + offset;
        struct plain x = p->value[i], dx = p->gradient[i], dy = p->gradient[i + 1];
        struct plain dw = {p->grads.x + offset, p->grads.var + offset};
        const double *size = i == 0 ? p->size : x.x;
        if (l->kind == LAYER_conv2d) {
            conv_backward_weights(p, l, dw, dy, x, size);
            if (i > 0)
                conv_backward_input(p, l, dx, dy, params);
        } else if (l->kind == LAYER_dense) {
            dense_backward(p, l, dx, dw, dy, x, size, params);
        } else if (l->kind == LAYER_batchnorm2d) {
            norm_backward(p, l, dx, dw, dy, x, params);
        } else if (l->kind == LAYER_relu) {
            for (size_t at = 0; at < (size_t)p->n * shape_count(l->in); at++) {
                dx.x[at] = x.x[at] > 0 ? dy.x[at] : 0;
                dx.var[at] = x.x[at] > 0 ? dy.var[at] : 0;
            }
        } else if (l->kind == LAYER_maxpool2d) {
            maxpool_backward(p, l, dx, dy, x);
        } else if (l->kind == LAYER_avgpool2d) {
            avgpool(p, l, dx, dy, true);
        } else {
            drop(p, l, dx, dy);
        }
    }
}

static inline void plain_begin(struct plain_net *p)
{
    const struct net_desc *d = p->desc;
    assert_true(d->n_layers <= PLAIN_LAYERS_MAX);
    for (int i = 0; i <= d->n_layers; i++) {
        size_t n = (size_t)p->n * shape_count(i == 0 ? d->input : d->layers[i - 1].out);
        p->value[i] = plain_alloc(n);
        p->gradient[i] = plain_alloc(n);
    }
    p->grads = plain_alloc(d->n_params);
    p->size = calloc((size_t)p->n * shape_count(d->input), sizeof *p->size);
    assert_non_null(p->size);
}

static inline void plain_end(struct plain_net *p)
{
    for (int i = 0; i <= p->desc->n_layers; i++) {
        plain_free(&p->value[i]);
        plain_free(&p->gradient[i]);
    }
    plain_free(&p->grads);
    free(p->size);
}
