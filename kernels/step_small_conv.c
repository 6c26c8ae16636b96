/* A small convolution, dropout of channels, pooling by 2x2 and ReLU in one go, an image at a time:
 * the layers of LeNet and its like, whose weights fit into the first-level cache.
 *
 * An image by itself shows which work is for nothing. While training, channels that dropout2d takes
 * away are not computed. Backward, only the largest number of each pooling window can have a
 * gradient, and ReLU lets only the positive ones have it: for lenet_21k some 100 of 1,280 outputs
 * of conv2. Batches with images innermost need no shuffling of data but cannot leave anything out;
 * prototypes of them were half as fast. Speed depends on the data a little, through ReLU.
 *
 * On one core of a Xeon with AVX-512 (212 GFLOP/s) both convolutions of 128 MNIST images take 0.57
 * ms forward, 140 GFLOP/s of the work that is left, and 0.40 ms backward, where writing windows to
 * the gradient of the input bounds the speed: a store for each tap. What a batch of 128 leaves does
 * not fit into a second-level cache of 2 MiB, so each image asks for what the next one needs.
 *
 * Images of bytes are convolved as bytes: scale and shift move into weights and bias (see
 * step_dense_bytes.c). Where nothing is drawn they are zero then, and forward notes which windows
 * see something: two thirds of them on MNIST, and only those backward adds up. Threads share the
 * images; each sums its gradients by itself, and the sums are then added in the order of the
 * threads. */
#include <string.h>

#include "kernels/dropout_mask.h"
#include "kernels/simd_tables.h"
#include "kernels/step_small_conv.h"

#define WEIGHTS_MAX      8192
#define POSITIONS_MAX    4096 /* of the input */
#define CHANNELS_OUT_MAX 128
#define WINDOW           4 /* outputs that pooling chooses from */

SIMD_DECLARE(struct small_conv_forward_functions, small_conv_forward)
SIMD_DECLARE(struct small_conv_backward_functions, small_conv_backward)

static size_t pad(size_t n)
{
    return (n + SMALL_CONV_PAD - 1) / SMALL_CONV_PAD * SMALL_CONV_PAD;
}

static bool is_small_conv(const struct layer_desc *l)
{
    return l->kind == LAYER_conv2d && l->kernel_h == l->kernel_w && l->kernel_h >= 2 &&
           l->kernel_h <= SMALL_CONV_KERNEL_MAX && l->stride_h == 1 && l->stride_w == 1 &&
           l->pad_h == 0 && l->pad_w == 0 && l->in.h * l->in.w <= POSITIONS_MAX &&
           l->channels <= CHANNELS_OUT_MAX &&
           l->in.c * l->channels * l->kernel_h * l->kernel_w <= WEIGHTS_MAX;
}

static bool is_pool(const struct layer_desc *l)
{
    return l->kind == LAYER_maxpool2d && l->kernel_h == 2 && l->kernel_w == 2 && l->stride_h == 2 &&
           l->stride_w == 2;
}

/* conv2d, dropout2d or not, and then maxpool2d with ReLU before it, after it or not at all. */
static int small_conv_match(const struct layer_desc *layers, int n, const struct extent *read)
{
    (void)read;
    if (!is_small_conv(layers))
        return 0;
    int taken = 1;
    if (taken < n && layers[taken].kind == LAYER_dropout2d)
        taken++;
    bool relu_first = taken < n && layers[taken].kind == LAYER_relu;
    taken += relu_first;
    if (taken >= n || !is_pool(&layers[taken]))
        return 0;
    taken++;
    return taken + (!relu_first && taken < n && layers[taken].kind == LAYER_relu);
}

static const struct layer_desc *find_layer(const struct stretch *s, enum layer_kind kind)
{
    for (int i = 0; i < s->n_layers; i++)
        if (s->layers[i].kind == kind)
            return &s->layers[i];
    return NULL;
}

static struct small_conv shape_of(const struct stretch *s)
{
    const struct layer_desc *conv = s->layers;
    const struct shape out = stretch_last(s)->out;
    struct small_conv c = {
        .in_c = (size_t)conv->in.c,
        .in_h = (size_t)conv->in.h,
        .in_w = (size_t)conv->in.w,
        .out_c = (size_t)conv->channels,
        .kernel = (size_t)conv->kernel_h,
        .pooled_h = (size_t)out.h,
        .pooled_w = (size_t)out.w,
        .relu = find_layer(s, LAYER_relu) != NULL,
        .turned = pad((size_t)conv->in.h * (size_t)conv->in.w),
        .lanes_c = pad((size_t)conv->in.c),
    };
    c.positions = pad(c.pooled_h * c.pooled_w);
    c.vectors = c.positions / small_conv_forward_for(s->isa)->lanes;
    /* A vector of positions reads up to kernel/2 rows on; a row is written in whole vectors. */
    c.plane = c.positions + pad(c.kernel / 2 * c.pooled_w) + SMALL_CONV_PAD;
    return c;
}

static size_t place_saved(struct saved *saved, const struct small_conv *c, size_t n, void *base)
{
    struct pieces p = {.base = base};
    saved->scale = take(&p, sizeof(real));
    saved->marks = take(&p, n * c->out_c * c->vectors * sizeof *saved->marks);
    saved->ink = take(&p, n * c->vectors * sizeof *saved->ink);
    saved->kept = take(&p, n * c->out_c * sizeof(uint16_t));
    saved->n_kept = take(&p, n * sizeof(uint16_t));
    return p.used;
}

static struct small_conv_call call_of(const struct stretch *s, const struct step_call *step,
                                      bool bytes)
{
    struct small_conv_call call = {
        .step = step,
        .stretch = s,
        .dropout = find_layer(s, LAYER_dropout2d),
        .c = shape_of(s),
        .bytes = bytes,
        .weights = step->params,
        .forward = small_conv_forward_for(s->isa),
        .backward = small_conv_backward_for(s->isa),
    };
    call.bias = step->params + weights_of(&call.c);
    place_saved(&call.saved, &call.c, (size_t)step->n, step->saved);
    for (size_t c = 0; bytes && c < call.c.in_c; c++) {
        call.scale[c] =
            (s->byte_value[c][BYTE_VALUES - 1] - s->byte_value[c][0]) / (BYTE_VALUES - 1);
        call.shift[c] = s->byte_value[c][0];
    }
    return call;
}

const real *small_conv_image(const struct small_conv_call *call, real *space, size_t image)
{
    const struct step_call *step = call->step;
    size_t n = image_reals(&call->c);
    if (call->bytes) {
        step_ask_for_image(step, image + IMAGES_AHEAD, n);
        call->forward->load_bytes(space, step->image[image], n);
        return space;
    }
    const real *x = step->x + image * n;
    if (image + 1 < (size_t)step->n && n >= 2 * SMALL_CONV_PAD)
        return x;
    return memcpy(space, x, n * sizeof *x);
}

/* Kernels of this size reach about half of what FLOPS_PER_BLOCK is made
 * for. */
size_t small_conv_block(const struct small_conv_call *call)
{
    return images_per_block(FLOPS_PER_BLOCK / 4, call->stretch->layers->flops_forward);
}

/* ---- forward */

/* Weights and bias with scale and shift in them. */
static void fold(struct small_conv_call *call, real *weights, real *bias)
{
    const struct small_conv *c = &call->c;
    size_t taps = taps_of(c);
    memcpy(bias, call->bias, c->out_c * sizeof *bias);
    for (size_t i = 0; i < weights_of(c); i++) {
        size_t channel = i / taps % c->in_c;
        weights[i] = call->weights[i] * call->scale[channel];
        bias[i / (taps * c->in_c)] += call->weights[i] * call->shift[channel];
    }
    call->weights = weights;
    call->bias = bias;
}

/* Lays out the scratch of a forward pass, and fills what threads share if there is a base. */
static size_t prepare_forward(struct small_conv_call *call, int threads, void *base)
{
    const struct small_conv *c = &call->c;
    struct pieces p = {.base = base};
    real *weights = take(&p, weights_of(c) * sizeof *weights);
    real *bias = take(&p, c->out_c * sizeof *bias);
    size_t *offsets = take(&p, taps_of(c) * WINDOW * sizeof *offsets);
    size_t shared = p.used;
    call->space = take(&p, (image_reals(c) + 2 * SMALL_CONV_PAD) * sizeof(real));
    call->forward_work = (struct small_conv_forward_work){
        .planes = take(&p, c->in_c * 2 * (c->kernel + 1) * c->plane * sizeof(real)),
        .inked_rows = take(&p, 2 * c->plane * sizeof(real)),
        .offsets = offsets,
    };
    call->stride = p.used - shared;
    if (base)
        call->forward->prepare(c, offsets);
    if (base && call->bytes)
        fold(call, weights, bias);
    return shared + (size_t)threads * call->stride;
}

/* Lists the channels that dropout2d leaves of an image, all outside training. */
static size_t list_kept(const struct small_conv_call *call, size_t image, uint16_t *kept)
{
    const struct exec *ex = call->step->ex;
    uint8_t keep[CHANNELS_OUT_MAX];
    size_t n = 0;
    memset(keep, 1, call->c.out_c);
    if (call->dropout && ex->training)
        dropout_mask_draw_by(call->stretch->isa, keep, ex, call->dropout, call->c.out_c,
                             ex->samples[image]);
    for (size_t channel = 0; channel < call->c.out_c; channel++) {
        kept[n] = (uint16_t)channel;
        n += keep[channel];
    }
    return n;
}

static void forward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct small_conv_call *call = arg;
    const struct small_conv *c = &call->c;
    struct small_conv_forward_work w = call->forward_work;
    real *space = (real *)((char *)call->space + (size_t)thread * call->stride);
    w.planes = (real *)((char *)w.planes + (size_t)thread * call->stride);
    w.inked_rows = (real *)((char *)w.inked_rows + (size_t)thread * call->stride);
    size_t count = c->out_c * c->pooled_h * c->pooled_w;
    bool marks_ink = call->bytes && call->step->ex->training;
    for (size_t i = begin; i < end; i++) {
        uint16_t kept[CHANNELS_OUT_MAX + 1];
        struct small_conv_output out = {
            .y = call->step->y + i * count,
            .marks = call->saved.marks + i * c->out_c * c->vectors,
            .ink = marks_ink ? call->saved.ink + i * c->vectors : NULL,
            .kept = kept,
            .n_kept = list_kept(call, i, kept),
            .scale = *call->saved.scale,
        };
        memcpy(call->saved.kept + i * c->out_c, kept, out.n_kept * sizeof *kept);
        call->saved.n_kept[i] = (uint16_t)out.n_kept;
        if (out.n_kept < c->out_c)
            memset(out.y, 0, count * sizeof *out.y);
        if (!call->bytes && i + 1 < (size_t)call->step->n)
            small_conv_ask_for(call->step->x + (i + 1) * image_reals(c),
                               image_reals(c) * sizeof(real));
        w.x = small_conv_image(call, space, i);
        call->forward->forward(c, &w, call->weights, call->bias, &out);
    }
}

static void forward(const struct stretch *s, const struct step_call *step, bool bytes)
{
    struct small_conv_call call = call_of(s, step, bytes);
    bool drops = call.dropout && step->ex->training;
    *call.saved.scale = drops ? (real)(1.0 / (1.0 - call.dropout->rate)) : 1;
    prepare_forward(&call, pool_threads(step->ex->pool), step->scratch);
    exec_for(step->ex, (size_t)step->n, small_conv_block(&call), forward_block, &call);
}

/* ---- tables */

static size_t small_conv_saved_bytes(const struct stretch *s, int n)
{
    const struct small_conv c = shape_of(s);
    struct saved saved;
    return place_saved(&saved, &c, (size_t)n, NULL);
}

static size_t small_conv_scratch_bytes(const struct stretch *s, int n, int threads)
{
    (void)n;
    struct small_conv_call call = {.stretch = s, .c = shape_of(s)};
    size_t forward_bytes = prepare_forward(&call, threads, NULL);
    size_t backward_bytes = small_conv_prepare_backward(&call, threads, NULL);
    return forward_bytes > backward_bytes ? forward_bytes : backward_bytes;
}

/* While training, on the average of what dropout2d leaves. */
static double share_kept(const struct stretch *s)
{
    const struct layer_desc *dropout = find_layer(s, LAYER_dropout2d);
    return dropout ? 1 - dropout->rate : 1;
}

static uint64_t small_conv_flops_forward(const struct stretch *s)
{
    const struct small_conv c = shape_of(s);
    size_t window = 2 * c.in_c * taps_of(&c), outputs = c.pooled_h * c.pooled_w * WINDOW;
    return (uint64_t)(share_kept(s) * (double)(window * outputs * c.out_c));
}

/* Two windows, or one in the first layer, for every pooled output, at most: which ones ReLU stops
 * depends on the images. */
static uint64_t small_conv_flops_backward(const struct stretch *s)
{
    return small_conv_flops_forward(s) / WINDOW * (s->wants_input ? 2 : 1);
}

static unsigned small_conv_savings(const struct stretch *s)
{
    const struct small_conv c = shape_of(s);
    unsigned savings = SAVING_BIT(SAVING_pool_zeros);
    savings |= find_layer(s, LAYER_dropout2d) ? SAVING_BIT(SAVING_dropped_channels) : 0;
    savings |= c.relu || s->in == LAYOUT_BYTES ? SAVING_BIT(SAVING_data_zeros) : 0;
    return savings | saving_of_dead_outputs(s, 2 * (int)c.pooled_h, 2 * (int)c.pooled_w);
}

static void images_forward(const struct stretch *s, const struct step_call *step)
{
    forward(s, step, true);
}

static void images_backward(const struct stretch *s, const struct step_call *step)
{
    struct small_conv_call call = call_of(s, step, true);
    small_conv_backward_pass(&call);
}

static void values_forward(const struct stretch *s, const struct step_call *step)
{
    forward(s, step, false);
}

static void values_backward(const struct stretch *s, const struct step_call *step)
{
    struct small_conv_call call = call_of(s, step, false);
    small_conv_backward_pass(&call);
}

const struct step_kernel step_small_conv_bytes = {
    .name = "small_conv_bytes",
    .in = LAYOUT_BYTES,
    .out = LAYOUT_NCHW,
    .match = small_conv_match,
    .saved_bytes = small_conv_saved_bytes,
    .scratch_bytes = small_conv_scratch_bytes,
    .forward = images_forward,
    .backward = images_backward,
    .flops_forward = small_conv_flops_forward,
    .flops_backward = small_conv_flops_backward,
    .savings = small_conv_savings,
};

const struct step_kernel step_small_conv = {
    .name = "small_conv",
    .in = LAYOUT_NCHW,
    .out = LAYOUT_NCHW,
    .match = small_conv_match,
    .saved_bytes = small_conv_saved_bytes,
    .scratch_bytes = small_conv_scratch_bytes,
    .forward = values_forward,
    .backward = values_backward,
    .flops_forward = small_conv_flops_forward,
    .flops_backward = small_conv_flops_backward,
    .savings = small_conv_savings,
};
