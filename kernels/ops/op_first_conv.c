/* The first 3x3 convolution of a net + bias [+ batch norm] [+ ReLU [+ 2x2 pooling]]; see
 * first_conv.h. Its input is bytes; it computes in blocks of channels. Backward converts the bytes
 * again, in less than a microsecond per MNIST image. Without batch norm, forward saves nothing but
 * the origin of each output in its pooling window (see conv3x3.h). Images are divided among the
 * threads. Each thread sums its own gradients; these sums are then added in thread order. */
#include <string.h>

#include "kernels/layers/layer_tables.h"
#include "kernels/ops/conv3x3.h"
#include "kernels/ops/norm_blocks.h"
#include "kernels/simd/blocks.h"
#include "kernels/simd/first_conv.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_BF16(struct first_conv_functions, first_conv)
SIMD_DECLARE(struct block_functions, blocks)

static int round_up(int a, int b)
{
    return (a + b - 1) / b * b;
}

static struct first_conv first_conv_of(const struct fused_layers *fused)
{
    const struct layer_desc *conv = fused->layers;
    struct first_conv f = {.in_c = conv->in.c,
                           .out_c = conv->out.c,
                           .block = first_conv_for(fused->isa)->block,
                           .out = area_read(fused, 1)};
    conv3x3_match(fused->layers, fused->n_layers, &f.epilogue, &f.norm);
    f.y_precision = values_precision(fused, f.norm ? LAYOUT_BLOCKED : fused->out);
    f.stored = area_read(fused, f.norm ? 1 : fused->n_layers);
    f.out_blocks = blocks_of(f.out_c, f.block);
    f.image_h = round_up(f.out.h, FIRST_CONV_ROWS) + 2;
    f.image_w = round_up(f.out.w, FIRST_CONV_COLUMNS) + 2;
    return f;
}

/* Sizes in reals of buffers in scratch, which follow batch norm's buffers. `weights`, `bias`: one
 * buffer each for all threads, and one per thread for the gradient. `image`: one image per thread.
 * `y`: y or dy of one image per thread, in blocks; 0 unless the op's output is [N,C,H,W] or batch
 * norm follows. */
struct parts {
    size_t weights, bias, image, y;
};

static struct parts parts_of(const struct fused_layers *fused, const struct first_conv *f)
{
    return (struct parts){
        .weights = aligned_reals((size_t)f->out_blocks * first_conv_panel(f)),
        .bias = aligned_reals((size_t)(f->out_blocks * f->block)),
        .image = aligned_reals(first_conv_image(f)),
        .y = fused->out == LAYOUT_NCHW || f->norm ? aligned_reals(first_conv_stored(f)) : 0};
}

static size_t share_reals(const struct parts *p)
{
    return p->image + p->weights + p->bias + p->y;
}

struct first_conv_call {
    const struct fused_layers *fused;
    const struct op_call *c;
    struct first_conv f;
    const struct first_conv_functions *functions;
    struct parts parts;
    real *weights, *bias, *shares;
    uint8_t *from;
    real *z;               /* input of batch norm, saved for backward; only if f.norm */
    struct norm_call norm; /* batch norm after the convolution; valid only if f.norm */
};

static size_t conv_params(const struct fused_layers *fused, const struct first_conv *f)
{
    return (size_t)f->out_c * (size_t)(f->in_c * TAPS) + bias_count(fused->layers);
}

static struct first_conv_call call_begin(const struct fused_layers *fused, const struct op_call *c)
{
    struct first_conv_call call = {.fused = fused,
                                   .c = c,
                                   .f = first_conv_of(fused),
                                   .functions = first_conv_for(fused->isa),
                                   .weights = c->scratch,
                                   .from = c->saved};
    call.parts = parts_of(fused, &call.f);
    if (call.f.norm) {
        real *after_z = (real *)c->saved + aligned_reals((size_t)c->n * first_conv_kept(&call.f));
        int threads = pool_threads(c->ex->pool);
        call.z = c->saved;
        call.norm = norm_call_begin(fused, 1, c, call.z, c->params + conv_params(fused, &call.f),
                                    after_z, c->scratch);
        call.weights = (real *)((char *)c->scratch + norm_scratch_bytes(fused, 1, threads));
    }
    call.bias = call.weights + call.parts.weights;
    call.shares = call.bias + call.parts.bias;
    return call;
}

static real *share_image(const struct first_conv_call *call, int thread)
{
    return call->shares + (size_t)thread * share_reals(&call->parts);
}

static real *share_dweights(const struct first_conv_call *call, int thread)
{
    return share_image(call, thread) + call->parts.image;
}

static real *share_dbias(const struct first_conv_call *call, int thread)
{
    return share_dweights(call, thread) + call->parts.weights;
}

static real *share_y(const struct first_conv_call *call, int thread)
{
    return share_dbias(call, thread) + call->parts.bias;
}

/* Describes an output image [C,H,W] for conversion to and from blocks of channels: channels,
 * strides, and the rows and columns that are stored. */
static struct planes planes_of(const struct first_conv_call *call)
{
    const struct shape *shape = &fused_last(call->fused)->out;
    return (struct planes){.area = call->f.stored,
                           .channels = shape->c,
                           .row = (size_t)shape->w,
                           .plane = (size_t)shape->h * (size_t)shape->w};
}

static size_t block_images(const struct first_conv *f)
{
    size_t outputs = (size_t)f->out.h * (size_t)f->out.w * (size_t)(f->out_blocks * f->block);
    return images_per_block(FLOPS_PER_BLOCK / 16, 2 * TAPS * (size_t)f->in_c * outputs);
}

/* Converts one image of bytes to x [C, image_h, image_w]. The border of x must be zero already. */
static void load_image(const struct first_conv_call *call, real *x, const uint8_t *image)
{
    const struct first_conv *f = &call->f;
    const struct layer_desc *conv = call->fused->layers;
    int h = f->image_h - conv->pad_h, w = f->image_w - conv->pad_w;
    int rows = conv->in.h < h ? conv->in.h : h, columns = conv->in.w < w ? conv->in.w : w;
    for (int c = 0; c < f->in_c; c++, x += f->image_h * f->image_w) {
        const real *value = call->fused->byte_value[c];
        for (int i = 0; i < rows; i++) {
            const uint8_t *from = image + (c * conv->in.h + i) * conv->in.w;
            real *to = x + (i + conv->pad_h) * f->image_w + conv->pad_w;
            for (int j = 0; j < columns; j++)
                to[j] = value[from[j]];
        }
    }
}

static real *outputs_of(const struct first_conv_call *call, size_t i, int thread)
{
    if (call->f.norm)
        return call->z + i * first_conv_kept(&call->f);
    if (call->fused->out == LAYOUT_NCHW)
        return share_y(call, thread);
    return call->c->y + i * first_conv_kept(&call->f);
}

/* With batch norm, adds the outputs of image i to the batch statistics if needed. Without batch
 * norm, copies `y` to the output of the op if that output has layout [N,C,H,W]. */
static void pass_on(const struct first_conv_call *call, size_t i, const real *y, int thread)
{
    if (call->f.norm) {
        for (int b = 0; norm_wants_sums(&call->norm) && b < call->f.out_blocks; b++)
            norm_add_inputs(&call->norm, i, (size_t)b, thread);
    } else if (call->fused->out == LAYOUT_NCHW) {
        struct planes shape = planes_of(call);
        size_t image = shape_count(fused_last(call->fused)->out);
        blocks_for(call->fused->isa)->to_planes(&shape, call->c->y + i * image, y);
    }
}

static void forward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct first_conv_call *call = arg;
    const struct first_conv *f = &call->f;
    real *x = share_image(call, thread);
    memset(x, 0, first_conv_image(f) * sizeof *x);
    for (size_t i = begin; i < end; i++) {
        real *y = outputs_of(call, i, thread);
        load_image(call, x, call->c->image[i]);
        call->functions->forward(f, y, call->from + i * first_conv_stored(f), x, call->weights,
                                 call->bias);
        pass_on(call, i, y, thread);
    }
}

static void block_weights(const struct first_conv_call *call)
{
    const struct first_conv *f = &call->f;
    int taps = f->in_c * TAPS, block = f->block;
    const real *weights = call->c->params;
    const real *bias = added_bias(call->fused->layers, weights, (size_t)(f->out_c * taps));
    for (int o = 0; o < f->out_blocks * block; o++) {
        bool real_channel = o < f->out_c;
        call->bias[o] = real_channel && bias != NULL ? bias[o] : 0;
        for (int t = 0; t < taps; t++)
            call->weights[(o / block * taps + t) * block + o % block] =
                real_channel ? weights[o * taps + t] : 0;
    }
}

static void forward(const struct fused_layers *fused, const struct op_call *c)
{
    struct first_conv_call call = call_begin(fused, c);
    block_weights(&call);
    if (call.f.norm && norm_wants_sums(&call.norm))
        norm_sums_begin(&call.norm);
    exec_for(c->ex, (size_t)c->n, block_images(&call.f), forward_block, &call);
    if (call.f.norm)
        norm_forward(&call.norm);
}

/* Returns image i's gradient in blocks of channels. With batch norm it is the gradient of batch
 * norm's input, otherwise of the op's output. */
static const real *gradients_of(const struct first_conv_call *call, size_t i, int thread)
{
    const struct first_conv *f = &call->f;
    real *dy = share_y(call, thread);
    if (f->norm) {
        size_t block = first_conv_stored(f) / (size_t)f->out_blocks;
        for (size_t b = 0; b < (size_t)f->out_blocks; b++)
            norm_differentiate(&call->norm, dy + b * block, i, b, thread);
        return dy;
    }
    if (call->fused->out != LAYOUT_NCHW)
        return call->c->dy + i * first_conv_stored(f);
    struct planes shape = planes_of(call);
    size_t image = shape_count(fused_last(call->fused)->out);
    blocks_for(call->fused->isa)->to_blocks(&shape, dy, call->c->dy + i * image);
    return dy;
}

static void backward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct first_conv_call *call = arg;
    const struct first_conv *f = &call->f;
    real *x = share_image(call, thread);
    for (size_t i = begin; i < end; i++) {
        load_image(call, x, call->c->image[i]);
        call->functions->backward(f, share_dweights(call, thread), share_dbias(call, thread),
                                  gradients_of(call, i, thread),
                                  call->from + i * first_conv_stored(f), x);
    }
}

static void finish(const struct first_conv_call *call)
{
    const struct first_conv *f = &call->f;
    int taps = f->in_c * TAPS, block = f->block, threads = pool_threads(call->c->ex->pool);
    real *dweights = call->c->dparams, *dbias = dweights + f->out_c * taps;
    if (!call->c->ex->accumulate)
        memset(dweights, 0, conv_params(call->fused, f) * sizeof *dweights);
    for (int thread = 0; thread < threads; thread++) {
        const real *dw = share_dweights(call, thread), *db = share_dbias(call, thread);
        for (int o = 0; o < f->out_c; o++) {
            if (!call->fused->layers->without_bias)
                dbias[o] += db[o];
            for (int t = 0; t < taps; t++)
                dweights[o * taps + t] += dw[(o / block * taps + t) * block + o % block];
        }
    }
}

static void backward(const struct fused_layers *fused, const struct op_call *c)
{
    struct first_conv_call call = call_begin(fused, c);
    if (call.f.norm)
        norm_backward(&call.norm, c->dparams + conv_params(fused, &call.f), true);
    memset(call.shares, 0,
           (size_t)pool_threads(c->ex->pool) * share_reals(&call.parts) * sizeof(real));
    exec_for(c->ex, (size_t)c->n, block_images(&call.f), backward_block, &call);
    finish(&call);
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    struct first_conv f = first_conv_of(fused);
    size_t images = (size_t)n;
    return f.norm ? aligned_reals(images * first_conv_kept(&f)) * sizeof(real) +
                        norm_saved_bytes(fused, 1, n)
                  : images * first_conv_stored(&f);
}

static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    struct first_conv f = first_conv_of(fused);
    struct parts p = parts_of(fused, &f);
    return (p.weights + p.bias + (size_t)threads * share_reals(&p)) * sizeof(real) +
           (f.norm ? norm_scratch_bytes(fused, 1, threads) : 0);
}

static size_t out_reals(const struct fused_layers *fused, int n)
{
    struct first_conv f = first_conv_of(fused);
    return f.norm ? norm_out_reals(fused, 1, n) : (size_t)n * first_conv_stored(&f);
}

static uint64_t flops(const struct fused_layers *fused)
{
    struct first_conv f = first_conv_of(fused);
    return 2 * TAPS * (uint64_t)f.in_c * (uint64_t)f.out_c * (uint64_t)(f.out.h * f.out.w);
}

static unsigned savings(const struct fused_layers *fused)
{
    struct first_conv f = first_conv_of(fused);
    return saving_of_dead_outputs(fused, f.out.h, f.out.w);
}

#define KERNEL(name, out, match, out_reals_)                                                       \
    OP_KERNEL(name, LAYOUT_BYTES, out, match, .out_reals = out_reals_, .flops_forward = flops,     \
              .flops_backward = flops, .savings = savings)

KERNEL(first_conv, LAYOUT_BLOCKED, conv3x3_match_blocks, out_reals);
KERNEL(first_conv_alone, LAYOUT_NCHW, conv3x3_match_last, NULL);
