/* Describes one small convolution of op_small_conv.c: the layers that it matches, its shape, its
 * saved data and its FLOPs. */
#include <string.h>

#include "kernels/ops/op_small_conv.h"
#include "kernels/simd_tables.h"

#define WEIGHTS_MAX   8192
#define POSITIONS_MAX 4096 /* largest number of positions (rows * columns) in an input plane */
#define WINDOW        4    /* convolution outputs per pooling window (2 x 2) */

SIMD_DECLARE(struct small_conv_forward_functions, small_conv_forward)
SIMD_DECLARE(struct small_conv_winograd_functions, small_conv_winograd)
SIMD_DECLARE(struct small_conv_backward_functions, small_conv_backward)

/* Zeros, used as the bias of a convolution that has none. */
static const real no_bias[SMALL_CONV_CHANNELS_MAX];

static size_t pad(size_t n)
{
    return (n + SMALL_CONV_PAD - 1) / SMALL_CONV_PAD * SMALL_CONV_PAD;
}

static bool is_small_conv(const struct layer_desc *l)
{
    return l->kind == LAYER_conv2d && l->kernel_h == l->kernel_w && l->kernel_h >= 2 &&
           l->kernel_h <= SMALL_CONV_KERNEL_MAX && l->stride_h == 1 && l->stride_w == 1 &&
           l->pad_h == 0 && l->pad_w == 0 && l->in.h * l->in.w <= POSITIONS_MAX &&
           l->channels <= SMALL_CONV_CHANNELS_MAX &&
           l->in.c * l->channels * l->kernel_h * l->kernel_w <= WEIGHTS_MAX;
}

int small_conv_match_part(const struct layer_desc *layers, int n)
{
    if (!is_small_conv(layers))
        return 0;
    int taken = 1;
    if (taken < n && layers[taken].kind == LAYER_dropout2d)
        taken++;
    bool relu_first = taken < n && layers[taken].kind == LAYER_relu;
    taken += relu_first;
    if (taken >= n || !is_pool2x2(&layers[taken]))
        return 0;
    taken++;
    return taken + (!relu_first && taken < n && layers[taken].kind == LAYER_relu);
}

struct small_conv small_conv_shape(const struct fused_layers *fused)
{
    const struct layer_desc *conv = fused->layers;
    const struct shape out = fused_last(fused)->out;
    struct small_conv c = {
        .in_c = (size_t)conv->in.c,
        .in_h = (size_t)conv->in.h,
        .in_w = (size_t)conv->in.w,
        .out_c = (size_t)conv->channels,
        .kernel = (size_t)conv->kernel_h,
        .pooled_h = (size_t)out.h,
        .pooled_w = (size_t)out.w,
        .relu = fused_find(fused, LAYER_relu) != NULL,
        .transposed = pad((size_t)conv->in.h * (size_t)conv->in.w),
        .lanes_c = pad((size_t)conv->in.c),
    };
    c.positions = pad(c.pooled_h * c.pooled_w);
    c.vectors = c.positions / small_conv_forward_for(fused->isa)->lanes;
    /* Room for accesses beyond the last position: forward reads vectors at offsets of up to
     * kernel/2 rows, and writes rows in whole vectors. */
    c.plane = c.positions + pad(c.kernel / 2 * c.pooled_w) + SMALL_CONV_PAD;
    return c;
}

size_t small_conv_place_saved(struct saved *saved, const struct small_conv *c, size_t n, void *base)
{
    struct pieces p = {.base = base};
    saved->scale = take(&p, sizeof(real));
    saved->marks = take(&p, n * c->out_c * c->vectors * sizeof *saved->marks);
    saved->nonzero = take(&p, n * c->vectors * sizeof *saved->nonzero);
    saved->kept = take(&p, n * c->out_c * sizeof(uint16_t));
    saved->n_kept = take(&p, n * sizeof(uint16_t));
    return p.used;
}

struct small_conv_call small_conv_call_of(const struct fused_layers *fused,
                                          const struct op_call *op)
{
    bool bytes = fused->in == LAYOUT_BYTES;
    struct small_conv_call call = {
        .op = op,
        .fused = fused,
        .dropout = fused_find(fused, LAYER_dropout2d),
        .c = small_conv_shape(fused),
        .bytes = bytes,
        .weights = op->params,
        .forward = small_conv_forward_for(fused->isa),
        .backward = small_conv_backward_for(fused->isa),
    };
    if (small_conv_takes_winograd(&call.c))
        call.winograd = small_conv_winograd_for(fused->isa);
    call.bias = added_bias(fused->layers, op->params, weights_of(&call.c));
    if (call.bias == NULL)
        call.bias = no_bias;
    small_conv_place_saved(&call.saved, &call.c, (size_t)op->n, op->saved);
    for (size_t c = 0; bytes && c < call.c.in_c; c++) {
        call.scale[c] =
            (fused->byte_value[c][BYTE_VALUES - 1] - fused->byte_value[c][0]) / (BYTE_VALUES - 1);
        call.shift[c] = fused->byte_value[c][0];
    }
    return call;
}

const real *small_conv_image(const struct small_conv_call *call, real *space, size_t image)
{
    const struct op_call *op = call->op;
    size_t n = image_reals(&call->c);
    if (call->bytes) {
        call->forward->load_bytes(space, op->image[image], n);
        return space;
    }
    const real *x = op->x + image * n;
    if (image + 1 < (size_t)op->n && n >= 2 * SMALL_CONV_PAD)
        return x;
    return memcpy(space, x, n * sizeof *x);
}

/* Returns the average fraction of channels that dropout2d keeps in training. */
static double share_kept(const struct fused_layers *fused)
{
    const struct layer_desc *dropout = fused_find(fused, LAYER_dropout2d);
    return dropout != NULL ? 1 - dropout->rate : 1;
}

/* Returns the FLOPs per image of a direct convolution (not Winograd) that computes one output per
 * pooling window. Only channels that dropout2d keeps are counted. */
static double flops_of_windows(const struct fused_layers *fused, const struct small_conv *c)
{
    size_t window = 2 * c->in_c * taps_of(c), outputs = c->pooled_h * c->pooled_w * c->out_c;
    return share_kept(fused) * (double)(window * outputs);
}

uint64_t small_conv_part_flops_forward(const struct fused_layers *fused)
{
    const struct small_conv c = small_conv_shape(fused);
    double flops = WINDOW * flops_of_windows(fused, &c);
    if (small_conv_takes_winograd(&c))
        flops *= (double)SMALL_CONV_POINTS / (double)(2 * c.kernel);
    return (uint64_t)flops;
}

uint64_t small_conv_part_flops_backward(const struct fused_layers *fused)
{
    const struct small_conv c = small_conv_shape(fused);
    return (uint64_t)flops_of_windows(fused, &c) * (fused->wants_input ? 2 : 1);
}

unsigned small_conv_part_savings(const struct fused_layers *fused)
{
    const struct small_conv c = small_conv_shape(fused);
    unsigned savings = SAVING_BIT(SAVING_pool_zeros);
    savings |= small_conv_takes_winograd(&c) ? SAVING_BIT(SAVING_winograd) : 0;
    savings |= fused_find(fused, LAYER_dropout2d) != NULL ? SAVING_BIT(SAVING_dropped_channels) : 0;
    savings |= c.relu || fused->in == LAYOUT_BYTES ? SAVING_BIT(SAVING_data_zeros) : 0;
    return savings | saving_of_dead_outputs(fused, 2 * (int)c.pooled_h, 2 * (int)c.pooled_w);
}
