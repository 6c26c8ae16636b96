/* What can be said of layers without running them: FLOPs, bytes, rounding. */
#include <math.h>
#include <string.h>

#include "bench/workloads/sweeps/kernel/sweep.h"
#include "kernels/base/text.h"

/* Roundings of a sum are rarely further apart than this many times the square root of their number:
 * less often than once in 10^20 sums. */
#define ROUNDING_FACTOR 10.0

static const struct tensor_desc *weights_of(const struct net_desc *desc, const struct layer_desc *l)
{
    return l->n_tensors > 0 ? &desc->tensors[l->first_tensor] : NULL;
}

/* Terms of the longest sum behind one output; a vector of weights scales what was averaged over all
 * images. */
static double terms_forward(const struct net_desc *desc, const struct layer_desc *l, int n)
{
    const struct tensor_desc *w = weights_of(desc, l);
    if (w != NULL && w->n_dims > 1)
        return (double)w->fan_in;
    if (w != NULL)
        return (double)n * l->in.h * l->in.w;
    return fmax(1, (double)l->kernel_h * l->kernel_w);
}

/* The same behind a gradient, be it of an input or of a parameter. */
static double terms_backward(const struct net_desc *desc, const struct layer_desc *l, int n)
{
    const struct tensor_desc *w = weights_of(desc, l);
    double images = (double)n * l->out.h * l->out.w;
    return w != NULL ? fmax(images, (double)w->fan_out)
                     : fmax(1, (double)l->kernel_h * l->kernel_w);
}

static double rounding(double terms)
{
    return ROUNDING_FACTOR * (REAL_EPSILON / 2) * sqrt(terms);
}

double bound_of_layer(const struct net_desc *desc, int layer, int n, enum pass pass)
{
    const struct layer_desc *l = &desc->layers[layer];
    return rounding(pass == PASS_FORWARD ? terms_forward(desc, l, n) : terms_backward(desc, l, n));
}

/* Numbers of bf16 are off by 2^-8 of their size at most, by a third of that squared in mean square, and of
 * the tiles F4 lets most through, 4.8 times as much as operands have together (kernels/simd/winograd.h). What
 * batch norm reads is rounded once; its means, which it takes away, are taken to be no larger than deviations.
 * What a convolution hands on is rounded as well, by less than a fifth of what F4 lets through. */
static double operands_off(const struct layer_desc *l)
{
    bool rounds = l->kind == LAYER_conv2d && l->kernel_h == 3 && l->kernel_w == 3 &&
                  l->stride_h == 1 && l->stride_w == 1;
    if (l->kind == LAYER_batchnorm2d || l->kind == LAYER_dense)
        return sqrt(2.0 / 3) * 0x1p-8;
    return rounds ? 4.8 * sqrt(2.0 / 3) * 0x1p-8 : 0;
}

static double bound_within(const struct net_desc *desc, int layer, int n, enum pass pass, bool bf16)
{
    return bound_of_layer(desc, layer, n, pass) + (bf16 ? operands_off(&desc->layers[layer]) : 0);
}

/* Layers add up. Where activations have kinks, a share of them as large as their error lies on the
 * other side, and each of these sends its gradient the other way: the root of that share in
 * norm. */
double bound_of_net(const struct net_desc *desc, int layer, int n, enum pass pass, bool bf16)
{
    double forward = 0, backward = 0;
    bool kinks = false;
    int last = pass == PASS_FORWARD ? layer + 1 : desc->n_layers;
    for (int i = 0; i < last; i++) {
        const struct layer_desc *l = &desc->layers[i];
        forward += bound_within(desc, i, n, PASS_FORWARD, bf16);
        kinks = kinks || l->kind == LAYER_relu || l->kind == LAYER_maxpool2d;
    }
    if (pass == PASS_FORWARD)
        return forward;
    for (int i = layer; i < desc->n_layers; i++)
        backward += bound_within(desc, i, n, PASS_BACKWARD, bf16);
    return forward + backward + (kinks ? sqrt(forward) : 0);
}

/* The first layer passes no gradient on. */
double least_bytes(const struct net_desc *desc, int first, int last, int n, enum pass pass,
                   struct value_bytes of)
{
    if (pass == PASS_TRAIN)
        return least_bytes(desc, first, last, n, PASS_FORWARD, of) +
               least_bytes(desc, first, last, n, PASS_BACKWARD, of);
    double in = (double)n * (double)shape_count(desc->layers[first].in);
    double out = (double)n * (double)shape_count(desc->layers[last - 1].out), params = 0;
    for (int i = first; i < last; i++)
        params += (double)net_layer_params(desc, &desc->layers[i]);
    if (pass == PASS_FORWARD)
        return (double)of.in * in + (double)of.out * out + sizeof(real) * params;
    return (double)of.in * in + sizeof(real) * ((first > 0 ? in : 0) + out + 2 * params);
}

double written_flop(const struct net_desc *desc, int first, int last, int n, enum pass pass)
{
    double sum = 0;
    for (int i = first; i < last; i++) {
        const struct layer_desc *l = &desc->layers[i];
        sum += pass != PASS_BACKWARD ? (double)l->flops_forward : 0;
        sum += pass != PASS_FORWARD ? (double)l->flops_backward : 0;
    }
    return n * sum;
}

char *layer_list(char *text, size_t size, const struct net_desc *desc, int first, int last)
{
    text[0] = '\0';
    for (int i = first; i < last; i++)
        text_join(text, size, "+", desc->layers[i].name);
    return text;
}

enum status sweep_make_buffers(real **buffers, const struct net_desc *desc, struct mem_room *memory,
                               struct error *e)
{
    TRY(MEM_KEEP(memory, *buffers, desc->n_buffer_values, "running statistics", e));
    net_init_buffers(desc, *buffers);
    return OK;
}

void distance_add(struct distance *d, const real *a, const real *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double difference = (double)a[i] - (double)b[i];
        d->difference += difference * difference;
        d->size += (double)b[i] * (double)b[i];
    }
}

/* Something that should be nothing is as wrong as can be. */
double distance_relative(const struct distance *d)
{
    if (d->size == 0)
        return d->difference == 0 ? 0 : INFINITY;
    return sqrt(d->difference / d->size);
}
