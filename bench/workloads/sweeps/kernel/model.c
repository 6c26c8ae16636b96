/* Predicts FLOPs, bytes and rounding errors of layers. */
#include <math.h>
#include <string.h>

#include "bench/workloads/sweeps/kernel/sweep.h"
#include "kernels/base/text.h"

/* Bound on the relative rounding error of a sum of k terms: ROUNDING_FACTOR * sqrt(k) *
 * REAL_EPSILON / 2. Fewer than one sum in 10^20 exceeds it. */
#define ROUNDING_FACTOR 10.0

static const struct tensor_desc *weights_of(const struct net_desc *desc, const struct layer_desc *l)
{
    return l->n_tensors > 0 ? &desc->tensors[l->first_tensor] : NULL;
}

/* Returns the number of terms of the longest sum by which an output is computed. Layers with
 * one-dimensional weights (batch norm) average over all pixels of all images. */
static double terms_forward(const struct net_desc *desc, const struct layer_desc *l, int n)
{
    const struct tensor_desc *w = weights_of(desc, l);
    if (w != NULL && w->n_dims > 1)
        return (double)w->fan_in;
    if (w != NULL)
        return (double)n * l->in.h * l->in.w;
    return fmax(1, (double)l->kernel_h * l->kernel_w);
}

/* Returns the number of terms of the longest sum by which the gradient of an input or a parameter
 * is computed. */
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

/* Returns the relative error of a layer's result if its operands are rounded to bf16; 0 for layers
 * that do not round. An operand's relative error is at most e = 2^-8, with mean square e^2 / 3, so
 * two operands give sqrt(2 / 3) e. Winograd's F4 tiles increase a convolution's error most: by a
 * factor of 4.8 (kernels/simd/winograd/winograd_axis.h). The rounded output adds less than a fifth
 * of F4's error. Batch norm rounds only its input, but can increase the error by a factor of up to
 * sqrt(2) if no mean exceeds its standard deviation. */
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

/* Returns the bound on the relative error of a layer's result within the network. The bound is the
 * sum of the bounds of all passes on which the result depends. For gradients, it also includes the
 * effect of kinks. Near the kink of ReLU or max pooling, an error can switch an activation on or
 * off. The share of switched activations is about as large as the forward error. If this share of
 * the gradients is wrong, their relative error in norm is sqrt(share). */
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

/* Returns the size (bytes) of the operands, each counted once per pass. Leaves out the input
 * gradient of the network's first layer, since training never computes this gradient. */
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

/* Returns ||a - b|| / ||b|| over all pieces of a and b that distance_add has added. Infinity if
 * only b is zero; 0 if a and b are both zero. */
double distance_relative(const struct distance *d)
{
    if (d->size == 0)
        return d->difference == 0 ? 0 : INFINITY;
    return sqrt(d->difference / d->size);
}
