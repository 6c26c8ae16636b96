/* Batch norm [+ ReLU [+ 2x2 pooling]] on blocks of channels, after a 3x3 convolution. Statistics
 * and running ones are batchnorm.h's; here are the passes. A channel is summed by one thread in the
 * order of the images, so that sums do not depend on the number of threads. */
#include <string.h>

#include "kernels/batchnorm.h"
#include "kernels/conv3x3.h"
#include "kernels/simd/blocks.h"
#include "kernels/simd/norm.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE(struct norm_functions, norm)
SIMD_DECLARE(struct block_functions, blocks)

/* Saved: statistics, then a byte a number of y. Scratch: sums; four numbers a channel; for each
 * thread an image's block of y or dy, where the step gives [N,C,H,W]. */
struct norm_call {
    const struct stretch *s;
    const struct step_call *c;
    struct norm norm;
    const struct norm_functions *functions;
    size_t block, blocks, in, stored; /* numbers of an image's block of x and y */
    uint8_t *from;
    real *terms; /* [C/block, 4, block] */
    real *squares;
};

static size_t padded_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static struct norm norm_of(const struct stretch *s)
{
    struct norm n = {.in = area_read(s, 0), .stored = area_read(s, s->n_layers)};
    norm_match(s->layers, s->n_layers, &n.epilogue);
    return n;
}

static size_t pixels(struct area a)
{
    return (size_t)a.h * (size_t)a.w;
}

static size_t padded_channels(const struct stretch *s)
{
    int block = norm_for(s->isa)->block;
    return (size_t)blocks_of(s->layers->in.c, block) * (size_t)block;
}

static size_t saved_bytes(const struct stretch *s, int n)
{
    struct norm norm = norm_of(s);
    return padded_bytes(batchnorm_bytes(s->layers)) +
           (size_t)n * padded_channels(s) * pixels(norm.stored);
}

static size_t scratch_bytes(const struct stretch *s, int n, int threads)
{
    (void)n;
    struct norm norm = norm_of(s);
    size_t square = pixels(norm.stored) * (size_t)norm_for(s->isa)->block;
    return padded_bytes(batchnorm_bytes(s->layers)) + 4 * padded_channels(s) * sizeof(real) +
           (s->out == LAYOUT_NCHW ? (size_t)threads * square * sizeof(real) : 0);
}

static size_t out_reals(const struct stretch *s, int n)
{
    return (size_t)n * padded_channels(s) * pixels(norm_of(s).stored);
}

static struct norm_call call_begin(const struct stretch *s, const struct step_call *c)
{
    size_t statistics = padded_bytes(batchnorm_bytes(s->layers));
    struct norm_call call = {.s = s,
                             .c = c,
                             .norm = norm_of(s),
                             .functions = norm_for(s->isa),
                             .from = (uint8_t *)c->saved + statistics,
                             .terms = (real *)((char *)c->scratch + statistics)};
    call.block = (size_t)call.functions->block;
    call.blocks = padded_channels(s) / call.block;
    call.in = pixels(call.norm.in) * call.block;
    call.stored = pixels(call.norm.stored) * call.block;
    call.squares = call.terms + 4 * padded_channels(s);
    return call;
}

/* Row `term` of the four of channel c; channels that fill up the last block have zeros. */
static real *term_of(const struct norm_call *call, size_t c, size_t term)
{
    return call->terms + (c / call->block * 4 + term) * call->block + c % call->block;
}

static struct planes planes_of(const struct norm_call *call, size_t b)
{
    const struct shape *shape = &stretch_last(call->s)->out;
    size_t left = (size_t)shape->c - b * call->block;
    return (struct planes){.area = call->norm.stored,
                           .channels = (int)(left < call->block ? left : call->block),
                           .row = (size_t)shape->w,
                           .plane = (size_t)shape->h * (size_t)shape->w};
}

/* dy of block b of image i, in blocks. */
static const real *gradients_of(const struct norm_call *call, size_t i, size_t b, int thread)
{
    if (call->s->out != LAYOUT_NCHW)
        return call->c->dy + (i * call->blocks + b) * call->stored;
    struct planes p = planes_of(call, b);
    real *square = call->squares + (size_t)thread * call->stored;
    blocks_for(call->s->isa)
        ->to_blocks(&p, square,
                    call->c->dy + i * shape_count(stretch_last(call->s)->out) +
                        b * call->block * p.plane);
    return square;
}

/* What the sums of a block's channels are taken around: see batchnorm2d.c. */
static void choose_shifts(const struct batchnorm_call *bn, const struct norm_call *call, size_t b)
{
    size_t image = 0;
    while (image < bn->images && !batchnorm_counts(bn->ex, image))
        image++;
    for (size_t c = b * call->block; c < (b + 1) * call->block && c < bn->channels; c++) {
        double shift = 0;
        if (bn->ex->group_sum)
            shift = (double)bn->running[c];
        else if (image < bn->images)
            shift = (double)bn->x[(image * call->blocks + b) * call->in + c % call->block];
        bn->s.mean[c] = (double)(real)shift;
    }
}

/* The most that is in a block: 64 numbers in double. */
enum { BLOCK_MAX = 32 };

static void store_sums(const struct batchnorm_call *bn, const struct norm_call *call, size_t b,
                       const double *sums)
{
    for (size_t l = 0; l < call->block && b * call->block + l < bn->channels; l++) {
        bn->sums[2 * (b * call->block + l)] = sums[l];
        bn->sums[2 * (b * call->block + l) + 1] = sums[call->block + l];
    }
}

/* Polls after about ELEMENTS_PER_BLOCK numbers. */
static void poll_after(const struct norm_call *call, int thread, size_t image)
{
    if (thread == 0 && (image + 1) % images_per_block(ELEMENTS_PER_BLOCK, call->in) == 0)
        exec_poll(call->c->ex);
}

/* Items are blocks of channels. */
static void sum_inputs(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *bn = arg;
    const struct norm_call *call = bn->arg;
    for (size_t b = begin; b < end; b++) {
        double sums[2 * BLOCK_MAX] = {0};
        choose_shifts(bn, call, b);
        for (size_t c = b * call->block; c < (b + 1) * call->block; c++)
            *term_of(call, c, 0) = c < bn->channels ? (real)bn->s.mean[c] : 0;
        for (size_t i = 0; i < bn->images; i++) {
            if (batchnorm_counts(bn->ex, i))
                call->functions->sum_inputs(&call->norm, sums,
                                            bn->x + (i * call->blocks + b) * call->in,
                                            term_of(call, b * call->block, 0));
            poll_after(call, thread, i);
        }
        store_sums(bn, call, b, sums);
    }
}

/* Items are blocks of images. */
static void normalise(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *bn = arg;
    const struct norm_call *call = bn->arg;
    bool planes = call->s->out == LAYOUT_NCHW;
    for (size_t p = begin; p < end; p++) {
        size_t i = p / call->blocks, b = p % call->blocks;
        const real *terms = term_of(call, b * call->block, 0);
        real *y =
            planes ? call->squares + (size_t)thread * call->stored : call->c->y + p * call->stored;
        call->functions->normalise(&call->norm, y, call->from + p * call->stored,
                                   bn->x + p * call->in, terms, terms + call->block,
                                   terms + 2 * call->block);
        if (planes) {
            struct planes to = planes_of(call, b);
            blocks_for(call->s->isa)
                ->to_planes(&to,
                            call->c->y + i * shape_count(stretch_last(call->s)->out) +
                                b * call->block * to.plane,
                            y);
        }
    }
}

static void sum_gradients(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *bn = arg;
    const struct norm_call *call = bn->arg;
    for (size_t b = begin; b < end; b++) {
        double sums[2 * BLOCK_MAX] = {0};
        for (size_t c = b * call->block; c < (b + 1) * call->block; c++)
            *term_of(call, c, 0) = c < bn->channels ? (real)bn->s.mean[c] : 0;
        for (size_t i = 0; i < bn->images; i++) {
            size_t p = i * call->blocks + b;
            call->functions->sum_gradients(&call->norm, sums, gradients_of(call, i, b, thread),
                                           call->from + p * call->stored, bn->x + p * call->in,
                                           term_of(call, b * call->block, 0));
            poll_after(call, thread, i);
        }
        store_sums(bn, call, b, sums);
    }
}

/* Padding learns nothing. */
static void differentiate(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *bn = arg;
    const struct norm_call *call = bn->arg;
    for (size_t p = begin; p < end; p++) {
        size_t i = p / call->blocks, b = p % call->blocks;
        real *dx = call->c->dx + p * call->in;
        if (!batchnorm_counts(bn->ex, i)) {
            memset(dx, 0, call->in * sizeof *dx);
            continue;
        }
        call->functions->differentiate(&call->norm, dx, gradients_of(call, i, b, thread),
                                       call->from + p * call->stored, bn->x + p * call->in,
                                       term_of(call, b * call->block, 0));
    }
}

static void run_planes(const struct batchnorm_call *bn, block_function *f)
{
    const struct norm_call *call = bn->arg;
    exec_for(bn->ex, bn->images * call->blocks, images_per_block(ELEMENTS_PER_BLOCK, call->in), f,
             (void *)bn);
}

static void sum_all_inputs(const struct batchnorm_call *bn)
{
    exec_for(bn->ex, ((const struct norm_call *)bn->arg)->blocks, 1, sum_inputs, (void *)bn);
}

static void normalise_all(const struct batchnorm_call *bn)
{
    const struct norm_call *call = bn->arg;
    for (size_t c = 0; c < call->blocks * call->block; c++) {
        bool exists = c < bn->channels;
        *term_of(call, c, 0) = exists ? (real)bn->s.mean[c] : 0;
        *term_of(call, c, 1) = exists ? (real)((double)bn->weight[c] * bn->s.inverse[c]) : 0;
        *term_of(call, c, 2) = exists ? bn->bias[c] : 0;
    }
    run_planes(bn, normalise);
}

static void sum_all_gradients(const struct batchnorm_call *bn)
{
    exec_for(bn->ex, ((const struct norm_call *)bn->arg)->blocks, 1, sum_gradients, (void *)bn);
}

static void differentiate_all(const struct batchnorm_call *bn)
{
    const struct norm_call *call = bn->arg;
    for (size_t c = 0; c < call->blocks * call->block; c++) {
        struct batchnorm_gradient g = {0};
        if (c < bn->channels)
            g = batchnorm_gradient_of(bn, c);
        *term_of(call, c, 0) = g.mean;
        *term_of(call, c, 1) = g.of_dy;
        *term_of(call, c, 2) = g.of_x;
        *term_of(call, c, 3) = g.constant;
    }
    run_planes(bn, differentiate);
}

static void forward(const struct stretch *s, const struct step_call *c)
{
    struct norm_call call = call_begin(s, c);
    struct batchnorm_call bn =
        batchnorm_begin(c->ex, s->layers, c->n, c->x, c->params, c->saved, c->scratch);
    bn.arg = &call;
    batchnorm_forward(&bn, s->layers, c->saved, sum_all_inputs, normalise_all);
}

static void backward(const struct stretch *s, const struct step_call *c)
{
    struct norm_call call = call_begin(s, c);
    struct batchnorm_call bn =
        batchnorm_begin(c->ex, s->layers, c->n, c->x, c->params, c->saved, c->scratch);
    bn.arg = &call;
    bn.dx = c->dx;
    batchnorm_backward(&bn, c->dparams, sum_all_gradients, differentiate_all);
}

#define KERNEL(name_, out_, match_, out_reals_)                                                    \
    const struct step_kernel step_##name_ = {                                                      \
        .name = #name_,                                                                            \
        .in = LAYOUT_BLOCKED,                                                                      \
        .out = out_,                                                                               \
        .match = match_,                                                                           \
        .out_reals = out_reals_,                                                                   \
        .saved_bytes = saved_bytes,                                                                \
        .scratch_bytes = scratch_bytes,                                                            \
        .forward = forward,                                                                        \
        .backward = backward,                                                                      \
    }

KERNEL(norm, LAYOUT_BLOCKED, norm_match_blocks, out_reals);
KERNEL(norm_last, LAYOUT_NCHW, norm_match_last, NULL);
