#include "kernels/ops/norm_blocks.h"

#include <string.h>

#include "kernels/simd/blocks.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_BF16(struct norm_functions, norm)
SIMD_DECLARE(struct block_functions, blocks)

static size_t padded_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static struct norm norm_of(const struct fused_layers *fused, int at)
{
    struct norm n = {.x_precision = values_precision(fused, LAYOUT_BLOCKED),
                     .y_precision = values_precision(fused, fused->out),
                     .in = area_read(fused, at),
                     .stored = area_read(fused, fused->n_layers)};
    norm_match(fused->layers + at, fused->n_layers - at, &n.epilogue);
    return n;
}

static size_t padded_channels(const struct fused_layers *fused, int at)
{
    int block = norm_for(fused->isa)->block;
    return (size_t)blocks_of(fused->layers[at].in.c, block) * (size_t)block;
}

size_t norm_saved_bytes(const struct fused_layers *fused, int at, int n)
{
    struct norm norm = norm_of(fused, at);
    return padded_bytes(batchnorm_bytes(&fused->layers[at])) +
           (size_t)n * padded_channels(fused, at) * area_pixels(norm.stored);
}

/* Returns the bytes of a thread's sums [C/block, 2, block] (double) and shifts [C] (real). */
static size_t sums_bytes(const struct fused_layers *fused, int at)
{
    return padded_channels(fused, at) * (2 * sizeof(double) + sizeof(real));
}

static size_t share_bytes(const struct fused_layers *fused, int at)
{
    size_t square = area_pixels(norm_of(fused, at).stored) * (size_t)norm_for(fused->isa)->block;
    return padded_bytes(sums_bytes(fused, at)) +
           (fused->out == LAYOUT_NCHW ? padded_bytes(square * sizeof(real)) : 0);
}

size_t norm_scratch_bytes(const struct fused_layers *fused, int at, int threads)
{
    return padded_bytes(batchnorm_bytes(&fused->layers[at])) +
           4 * padded_channels(fused, at) * sizeof(real) + (size_t)threads * share_bytes(fused, at);
}

size_t norm_out_reals(const struct fused_layers *fused, int at, int n)
{
    return (size_t)n * padded_channels(fused, at) * area_pixels(norm_of(fused, at).stored);
}

struct norm_call norm_call_begin(const struct fused_layers *fused, int at, const struct op_call *c,
                                 const real *x, const real *params, void *saved, void *scratch)
{
    const struct layer_desc *layer = &fused->layers[at];
    size_t statistics = padded_bytes(batchnorm_bytes(layer));
    struct layer_call norm = {.ex = c->ex,
                              .layer = layer,
                              .n = c->n,
                              .x = x,
                              .params = params,
                              .saved = saved,
                              .scratch = scratch};
    struct norm_call call = {.fused = fused,
                             .c = c,
                             .layer = layer,
                             .bn = batchnorm_begin(&norm),
                             .norm = norm_of(fused, at),
                             .functions = norm_for(fused->isa),
                             .from = (uint8_t *)saved + statistics,
                             .terms = (real *)((char *)scratch + statistics),
                             .share = share_bytes(fused, at)};
    call.block = (size_t)call.functions->block;
    call.blocks = padded_channels(fused, at) / call.block;
    call.in = area_pixels(call.norm.in) * call.block;
    call.stored = area_pixels(call.norm.stored) * call.block;
    call.shares = (char *)(call.terms + 4 * padded_channels(fused, at));
    return call;
}

/* Returns block number p of x. Blocks of all images are numbered consecutively. */
static const real *input_of(const struct norm_call *call, size_t p)
{
    return call->bn.x + p * call->in / precision_per_real(call->norm.x_precision);
}

/* Returns the thread's array of sums, [C/block, 2, block]: two sums per channel. */
static double *share_sums(const struct norm_call *call, int thread)
{
    return (double *)(call->shares + (size_t)thread * call->share);
}

static real *share_shifts(const struct norm_call *call, int thread)
{
    return (real *)(share_sums(call, thread) + 2 * call->blocks * call->block);
}

static real *share_square(const struct norm_call *call, int thread)
{
    return (
        real *)(call->shares + (size_t)thread * call->share +
                padded_bytes(sums_bytes(call->fused, (int)(call->layer - call->fused->layers))));
}

/* Returns the address of coefficient `term` (0 to 3) of channel c. Coefficients of the channels
 * that pad the last block are 0. */
static real *term_of(const struct norm_call *call, size_t c, size_t term)
{
    return call->terms + (c / call->block * 4 + term) * call->block + c % call->block;
}

static struct planes planes_of(const struct norm_call *call, size_t b)
{
    const struct shape *shape = &fused_last(call->fused)->out;
    size_t left = (size_t)shape->c - b * call->block;
    return (struct planes){.area = call->norm.stored,
                           .channels = (int)(left < call->block ? left : call->block),
                           .row = (size_t)shape->w,
                           .plane = (size_t)shape->h * (size_t)shape->w};
}

/* Returns the gradient dy of channel block b of image i. */
static const real *gradients_of(const struct norm_call *call, size_t i, size_t b, int thread)
{
    if (call->fused->out != LAYOUT_NCHW)
        return call->c->dy + (i * call->blocks + b) * call->stored;
    struct planes p = planes_of(call, b);
    real *square = share_square(call, thread);
    blocks_for(call->fused->isa)
        ->to_blocks(&p, square,
                    call->c->dy + i * shape_count(fused_last(call->fused)->out) +
                        b * call->block * p.plane);
    return square;
}

static void images_of(const struct norm_call *call, int thread, size_t *begin, size_t *end)
{
    pool_share(call->bn.images, (size_t)thread, (size_t)pool_threads(call->c->ex->pool), begin,
               end);
}

static size_t first_that_counts(const struct norm_call *call, size_t begin, size_t end)
{
    while (begin < end && !batchnorm_counts(call->c->ex, begin))
        begin++;
    return begin;
}

bool norm_wants_sums(const struct norm_call *call)
{
    return call->c->ex->training && !call->c->ex->fixed_statistics;
}

static void clear_sums(const struct norm_call *call)
{
    for (int t = 0; t < pool_threads(call->c->ex->pool); t++)
        memset(share_sums(call, t), 0, 2 * call->blocks * call->block * sizeof(double));
}

/* Clears each thread's sums and sets the thread's shifts, one per channel. A channel's shift is
 * subtracted from its inputs before summation (see batchnorm2d.c). In synchronised batch norm, the
 * shift is the running mean. Otherwise the shift is 0 until norm_add_inputs sets it to the thread's
 * first input. */
void norm_sums_begin(const struct norm_call *call)
{
    clear_sums(call);
    for (int t = 0; t < pool_threads(call->c->ex->pool); t++) {
        real *shifts = share_shifts(call, t);
        for (size_t c = 0; c < call->blocks * call->block; c++)
            shifts[c] =
                call->c->ex->group_sum != NULL && c < call->bn.channels ? call->bn.running[c] : 0;
    }
}

void norm_add_inputs(const struct norm_call *call, size_t image, size_t b, int thread)
{
    if (!batchnorm_counts(call->c->ex, image))
        return;
    size_t begin = 0, end = 0;
    const real *x = input_of(call, image * call->blocks + b);
    real *shifts = share_shifts(call, thread) + b * call->block;
    images_of(call, thread, &begin, &end);
    if (call->c->ex->group_sum == NULL && image == first_that_counts(call, begin, end))
        call->functions->first_inputs(&call->norm, shifts, x);
    call->functions->sum_inputs(&call->norm, share_sums(call, thread) + 2 * b * call->block, x,
                                shifts);
}

/* Adds a thread's sums to the total. Each sum has `count` terms. The sums are first converted from
 * the thread's shift to the common shift, bn->s.mean. */
static void add_share(const struct batchnorm_call *bn, const struct norm_call *call, int thread,
                      double count)
{
    const double *sums = share_sums(call, thread);
    const real *shifts = share_shifts(call, thread);
    for (size_t c = 0; c < bn->channels; c++) {
        size_t at = c / call->block * 2 * call->block + c % call->block;
        double first = sums[at], second = sums[at + call->block];
        double d = (double)shifts[c] - bn->s.mean[c];
        bn->sums[2 * c] += first + count * d;
        bn->sums[2 * c + 1] += second + 2 * d * first + count * d * d;
    }
}

/* Adds up the threads' sums in thread order. Each thread subtracted its own shift from the inputs;
 * the total uses the shift of the first thread with an image that is not padding. */
static void join_sums(const struct batchnorm_call *bn)
{
    const struct norm_call *call = bn->arg;
    bool begun = false;
    memset(bn->sums, 0, 2 * bn->channels * sizeof *bn->sums);
    for (size_t c = 0; c < bn->channels; c++)
        bn->s.mean[c] = (double)share_shifts(call, 0)[c];
    for (int t = 0; t < pool_threads(call->c->ex->pool); t++) {
        size_t begin = 0, end = 0, images = 0;
        images_of(call, t, &begin, &end);
        for (size_t i = begin; i < end; i++)
            images += batchnorm_counts(call->c->ex, i);
        if (images == 0)
            continue;
        for (size_t c = 0; !begun && c < bn->channels; c++)
            bn->s.mean[c] = (double)share_shifts(call, t)[c];
        begun = true;
        add_share(bn, call, t, (double)(images * bn->plane));
    }
}

/* Normalises blocks [begin, end) and applies the epilogue (ReLU and pooling, if any). Blocks of all
 * images are numbered consecutively. */
static void normalise(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *bn = arg;
    const struct norm_call *call = bn->arg;
    bool planes = call->fused->out == LAYOUT_NCHW;
    for (size_t p = begin; p < end; p++) {
        size_t i = p / call->blocks, b = p % call->blocks;
        const real *terms = term_of(call, b * call->block, 0);
        real *y = planes
                      ? share_square(call, thread)
                      : call->c->y + p * call->stored / precision_per_real(call->norm.y_precision);
        call->functions->normalise(&call->norm, y, call->from + p * call->stored, input_of(call, p),
                                   terms, terms + call->block, terms + 2 * call->block);
        if (planes) {
            struct planes to = planes_of(call, b);
            blocks_for(call->fused->isa)
                ->to_planes(&to,
                            call->c->y + i * shape_count(fused_last(call->fused)->out) +
                                b * call->block * to.plane,
                            y);
        }
    }
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
    exec_for(bn->ex, bn->images * call->blocks, images_per_block(ELEMENTS_PER_BLOCK, call->in),
             normalise, (void *)bn);
}

void norm_forward(struct norm_call *call)
{
    call->bn.arg = call;
    batchnorm_forward(&call->bn, join_sums, normalise_all);
}

/* Adds d and d * (x - mean) of images [begin, end) to the thread's sums per channel. d is the
 * gradient of batch norm's output. */
static void sum_gradients(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *bn = arg;
    const struct norm_call *call = bn->arg;
    double *sums = share_sums(call, thread);
    for (size_t i = begin; i < end; i++)
        for (size_t b = 0; b < call->blocks; b++) {
            size_t p = i * call->blocks + b;
            call->functions->sum_gradients(&call->norm, sums + 2 * b * call->block,
                                           gradients_of(call, i, b, thread),
                                           call->from + p * call->stored, input_of(call, p),
                                           term_of(call, b * call->block, 0));
        }
}

static void sum_all_gradients(const struct batchnorm_call *bn)
{
    const struct norm_call *call = bn->arg;
    for (size_t c = 0; c < call->blocks * call->block; c++)
        *term_of(call, c, 0) = c < bn->channels ? (real)bn->s.mean[c] : 0;
    clear_sums(call);
    exec_for(bn->ex, bn->images, images_per_block(ELEMENTS_PER_BLOCK, call->blocks * call->in),
             sum_gradients, (void *)bn);
    memset(bn->sums, 0, 2 * bn->channels * sizeof *bn->sums);
    for (int t = 0; t < pool_threads(call->c->ex->pool); t++) {
        const double *sums = share_sums(call, t);
        for (size_t c = 0; c < bn->channels; c++) {
            size_t at = c / call->block * 2 * call->block + c % call->block;
            bn->sums[2 * c] += sums[at];
            bn->sums[2 * c + 1] += sums[at + call->block];
        }
    }
}

static void find_terms(const struct batchnorm_call *bn)
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
}

void norm_backward(struct norm_call *call, real *dparams, bool wants_dx)
{
    call->bn.arg = call;
    batchnorm_backward(&call->bn, dparams, sum_all_gradients, wants_dx ? find_terms : NULL);
}

/* Prefetches the beginning of block b of `image`, if the batch has this image. The caller passes
 * the next image, because it lies far from the current image in memory. */
static void prefetch(const struct norm_call *call, size_t image, size_t b)
{
    enum { MOST = 4096 };
    size_t p = image * call->blocks + b, y = call->stored * sizeof(real);
    size_t x = call->in / precision_per_real(call->norm.x_precision) * sizeof(real);
    if (image >= call->bn.images)
        return;
    op_prefetch(input_of(call, p), x < MOST ? x : MOST);
    op_prefetch(call->from + p * call->stored, call->stored < MOST ? call->stored : MOST);
    if (call->fused->out != LAYOUT_NCHW)
        op_prefetch(call->c->dy + p * call->stored, y < MOST ? y : MOST);
}

/* Computes dx of channel block b of one image. Sets dx to 0 if the image is padding (an image of
 * weight 0). */
void norm_differentiate(const struct norm_call *call, real *dx, size_t image, size_t b, int thread)
{
    size_t p = image * call->blocks + b;
    prefetch(call, image + 1, b);
    if (batchnorm_counts(call->c->ex, image))
        call->functions->differentiate(&call->norm, dx, gradients_of(call, image, b, thread),
                                       call->from + p * call->stored, input_of(call, p),
                                       term_of(call, b * call->block, 0));
    else
        memset(dx, 0, call->in * sizeof *dx);
}
