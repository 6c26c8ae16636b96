/* Gradient of a net by plain loops, layer by layer, with all intermediate values: the oracle of
 * test_gradients in double precision. Uses neither plans nor ops. */
#pragma once

#include "kernels/net/tests/gradients.h"

enum { LAYERS_MAX = 64 };

/* value[i] is the input of layer i, value[i + 1] its output; gradient[i] is the gradient of
 * value[i]. */
struct layer_chain {
    const struct gradient_input *in;
    struct exec ex;
    real *value[LAYERS_MAX + 1], *gradient[LAYERS_MAX + 1];
    void *saved[LAYERS_MAX], *scratch[LAYERS_MAX];
    /* Decisions of ReLU and max pooling to use, one byte per output; NULL: their own. For ReLU
     * whether the input passes, for pooling which number of the window is chosen, in row order. */
    const uint8_t *kinks[LAYERS_MAX];
};

/* Returns the input that output `o` of a ReLU or pooling layer comes from. */
static inline size_t chain_source(const struct layer_desc *l, size_t o, uint8_t kink)
{
    if (l->kind == LAYER_relu)
        return o;
    size_t w = (size_t)l->out.w, plane = o / w / (size_t)l->out.h;
    size_t row = o / w % (size_t)l->out.h * (size_t)l->stride_h + kink / (size_t)l->kernel_w;
    size_t column = o % w * (size_t)l->stride_w + kink % (size_t)l->kernel_w;
    return (plane * (size_t)l->in.h + row) * (size_t)l->in.w + column;
}

static inline void chain_obey(struct layer_chain *c, int i, bool backward)
{
    const struct layer_desc *l = &c->in->desc.layers[i];
    size_t n = (size_t)c->in->about.images;
    if (backward)
        memset(c->gradient[i], 0, n * shape_count(l->in) * sizeof(real));
    for (size_t o = 0; o < n * shape_count(l->out); o++) {
        uint8_t kink = c->kinks[i][o];
        size_t source = chain_source(l, o, kink);
        bool passes = l->kind != LAYER_relu || kink != 0;
        if (!backward)
            c->value[i + 1][o] = passes ? c->value[i][source] : 0;
        else if (passes)
            c->gradient[i][source] += c->gradient[i + 1][o];
    }
}

static inline const real *chain_params(const struct layer_chain *c, const struct layer_desc *l)
{
    return l->n_tensors > 0 ? c->in->params + c->in->desc.tensors[l->first_tensor].offset : NULL;
}

static inline void chain_forward(struct layer_chain *c)
{
    const struct net_desc *d = &c->in->desc;
    int n = c->in->about.images;
    size_t plane = (size_t)d->input.h * (size_t)d->input.w;
    size_t image = shape_count(d->input) * (size_t)n;
    c->value[0] = allocate(image * sizeof(real));
    c->gradient[0] = allocate(image * sizeof(real));
    for (size_t i = 0; i < image; i++) {
        size_t channel = i / plane % (size_t)d->input.c;
        c->value[0][i] = (real)((c->in->images[i] / 255.0 - d->mean[channel]) / d->std[channel]);
    }
    for (int i = 0; i < d->n_layers; i++) {
        const struct layer_desc *l = &d->layers[i];
        const struct layer_kernel *kernel = layer_kernel_get(l->kind, PLAN_REFERENCE);
        size_t out = shape_count(l->out) * (size_t)n;
        c->value[i + 1] = allocate(out * sizeof(real));
        c->gradient[i + 1] = allocate(out * sizeof(real));
        c->saved[i] = allocate(layer_saved_bytes(kernel, l, n));
        c->scratch[i] = allocate(layer_scratch_bytes(kernel, l, n, 1));
        if (c->kinks[i])
            chain_obey(c, i, false);
        else
            kernel->forward(&(struct layer_call){.ex = &c->ex,
                                                 .layer = l,
                                                 .n = n,
                                                 .y = c->value[i + 1],
                                                 .x = c->value[i],
                                                 .params = chain_params(c, l),
                                                 .saved = c->saved[i],
                                                 .scratch = c->scratch[i]});
    }
}

static inline void chain_backward(struct layer_chain *c, real *grads)
{
    const struct net_desc *d = &c->in->desc;
    int n = c->in->about.images;
    softmax_cross_entropy(n, d->classes, c->value[d->n_layers], c->in->labels, NULL, 1.0 / n,
                          c->gradient[d->n_layers]);
    for (int i = d->n_layers - 1; i >= 0; i--) {
        const struct layer_desc *l = &d->layers[i];
        real *dparams = l->n_tensors > 0 ? grads + d->tensors[l->first_tensor].offset : NULL;
        if (c->kinks[i]) {
            chain_obey(c, i, true);
            continue;
        }
        layer_kernel_get(l->kind, PLAN_REFERENCE)
            ->backward(&(struct layer_call){.ex = &c->ex,
                                            .layer = l,
                                            .n = n,
                                            .y = c->value[i + 1],
                                            .x = c->value[i],
                                            .dx = c->gradient[i],
                                            .dy = c->gradient[i + 1],
                                            .params = chain_params(c, l),
                                            .dparams = dparams,
                                            .saved = c->saved[i],
                                            .scratch = c->scratch[i]});
    }
}

/* Returns the bound in float of |sum dx| over a channel after batch norm, which is 0 in exact
 * arithmetic.
 *
 * Let x be the m numbers of the channel before batch norm, z those after it, x' = (x -
 * mean)/deviation. Then dx = scale/deviation (dz - a - x' b) with a = sum dz / m and b = sum dz x'
 * / m. Its sum is 0 for any dz, so only roundings remain: of the terms of dx, of a, b, the mean (x'
 * has the error of mean/deviation) and the sum itself. Each is at most 10 sqrt(m) half epsilons of
 * its absolute values; roundings of a sum exceed that less than once in 10^20 sums. */
static inline double bound_of_zero_sum(const struct layer_chain *c, int layer, int channel)
{
    const struct layer_desc *l = &c->in->desc.layers[layer];
    size_t plane = (size_t)l->in.h * (size_t)l->in.w, images = (size_t)c->in->about.images;
    double m = (double)(plane * images), mean = 0, variance = 0, a = 0, b = 0, size = 0;
#define EACH_NUMBER(statement)                                                                     \
    for (size_t i = 0; i < images; i++)                                                            \
        for (size_t j = 0; j < plane; j++) {                                                       \
            size_t at = (i * (size_t)l->in.c + (size_t)channel) * plane + j;                       \
            double x = (double)c->value[layer][at], dz = (double)c->gradient[layer + 1][at];       \
            statement;                                                                             \
        }
    EACH_NUMBER((mean += x / m, a += dz / m))
    EACH_NUMBER((variance += (x - mean) * (x - mean) / m, b += dz * (x - mean) / m))
    double deviation = sqrt(variance + l->epsilon);
    b /= deviation;
    EACH_NUMBER(size += fabs(dz) + fabs(a) + (fabs(x - mean) + fabs(mean)) / deviation * fabs(b))
#undef EACH_NUMBER
    double scale = fabs((double)chain_params(c, l)[channel]) / deviation;
    return 10 * sqrt(m) * 0x1p-24 * scale * size;
}

/* bounds [n_tensors]: bound of the norm of a gradient that is exactly 0; 0 for other tensors. */
static inline void chain_bounds(const struct layer_chain *c, double *bounds)
{
    const struct net_desc *d = &c->in->desc;
    for (int t = 0; t < d->n_tensors; t++) {
        double squares = 0;
        for (size_t o = 0; tensor_is_without_gradient(d, t) && o < d->tensors[t].count; o++) {
            double bound = bound_of_zero_sum(c, d->tensors[t].layer + 1, (int)o);
            squares += bound * bound;
        }
        bounds[t] = sqrt(squares);
    }
}

static inline void chain_free(struct layer_chain *c)
{
    for (int i = 0; i <= c->in->desc.n_layers; i++) {
        mem_free(c->value[i]);
        mem_free(c->gradient[i]);
        if (i < c->in->desc.n_layers) {
            mem_free(c->saved[i]);
            mem_free(c->scratch[i]);
        }
    }
}

/* Computes grads [n_params], and bounds [n_tensors] as chain_bounds. */
static inline void gradient_by_layers(const struct gradient_input *in, real *grads, double *bounds)
{
    struct layer_chain c = {.in = in, .ex = gradient_exec(in)};
    assert_true(in->desc.n_layers <= LAYERS_MAX);
    chain_forward(&c);
    chain_backward(&c, grads);
    chain_bounds(&c, bounds);
    chain_free(&c);
}
