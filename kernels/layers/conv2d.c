/* Convolution through im2col and GEMM, in chunks of images.
 *
 * Each image has P columns of K inputs, one per output position. The columns of m images lie side
 * by side: Y [O, m*P] = W [O,K] cols [K, m*P], O output channels. A product is then wide enough for
 * GEMM: on a Zen 5 core, keras_690k's conv3 (P = 9, K = 1152) reaches 173 GFLOP/s with 12 images
 * per product, 227 with 32. Backward gathers the columns again, since storing them would take up to
 * kernel_h * kernel_w times the memory of the input.
 *
 * Threads share the images. Each thread sums its weight gradient separately; the sums are then
 * added in thread order. */
#include <string.h>

#include "kernels/base/simd.h"
#include "kernels/gemm.h"
#include "kernels/layers/im2col.h"

/* Target size (bytes) of a chunk's columns plus its outputs or output gradients: roughly a
 * second-level cache. */
#define CHUNK_BYTES ((size_t)1 << 20)

struct sizes {
    size_t k, p;     /* k: number of rows of the im2col matrix, in.c * kernel_h * kernel_w. p:
                        number of columns of this matrix per image. */
    size_t in, out;  /* number of values in one input image and in its output */
    size_t channels; /* number of output channels */
    size_t params;   /* number of weights and biases */
    size_t chunk;    /* largest number of images per chunk */
};

static struct sizes sizes_of(const struct layer_desc *l, size_t n)
{
    struct sizes s = {.k = (size_t)l->in.c * (size_t)l->kernel_h * (size_t)l->kernel_w,
                      .p = (size_t)l->out.h * (size_t)l->out.w,
                      .in = shape_count(l->in),
                      .out = shape_count(l->out),
                      .channels = (size_t)l->out.c};
    s.params = s.channels * s.k + bias_count(l);
    size_t by_memory = images_per_block(CHUNK_BYTES, (s.k + s.channels) * s.p * sizeof(real));
    size_t by_work = images_per_block(FLOPS_PER_BLOCK, 2 * s.channels * s.k * s.p);
    s.chunk = by_memory < by_work ? by_memory : by_work;
    if (s.chunk > n)
        s.chunk = n;
    return s;
}

/* Returns the size in reals of cols [K, chunk*P] plus flat [O, chunk*P]. Scratch holds both for
 * each thread, then a parameter gradient for each thread except the first. */
static size_t thread_reals(const struct sizes *s)
{
    return aligned_reals(s->k * s->chunk * s->p) + aligned_reals(s->channels * s->chunk * s->p);
}

static size_t conv2d_scratch_bytes(const struct layer_desc *layer, int n, int threads)
{
    struct sizes s = sizes_of(layer, (size_t)n);
    return (size_t)threads * thread_reals(&s) * sizeof(real) +
           (size_t)(threads - 1) * real_bytes(s.params);
}

struct conv2d_call {
    const struct layer_call *c;
    struct sizes s;
    real *partials;
};

static struct conv2d_call call_begin(const struct layer_call *c)
{
    struct conv2d_call call = {.c = c, .s = sizes_of(c->layer, (size_t)c->n)};
    call.partials = (real *)c->scratch + (size_t)pool_threads(c->ex->pool) * thread_reals(&call.s);
    return call;
}

static real *call_cols(const struct conv2d_call *call, int thread)
{
    return (real *)call->c->scratch + (size_t)thread * thread_reals(&call->s);
}

static real *call_flat(const struct conv2d_call *call, int thread)
{
    const struct sizes *s = &call->s;
    return call_cols(call, thread) + aligned_reals(s->k * s->chunk * s->p);
}

static real *call_partial(const struct conv2d_call *call, int thread)
{
    if (thread == 0)
        return call->c->dparams;
    return call->partials + (size_t)(thread - 1) * aligned_reals(call->s.params);
}

static void poll_within(const struct conv2d_call *call, int thread)
{
    if (thread == 0)
        exec_poll(call->c->ex);
}

static void gather_columns(const struct conv2d_call *call, real *cols, size_t begin, size_t end)
{
    const struct sizes *s = &call->s;
    for (size_t i = begin; i < end; i++)
        im2col(cols + (i - begin) * s->p, (end - begin) * s->p, call->c->x + i * s->in,
               call->c->layer);
}

/* y [m,O,P] <- flat [O,m,P], plus bias [O] unless bias is NULL */
SIMD_CLONES static void place_outputs(real *restrict y, const real *restrict flat,
                                      const real *restrict bias, size_t images, size_t channels,
                                      size_t p)
{
    for (size_t i = 0; i < images; i++) {
        for (size_t o = 0; o < channels; o++) {
            const real *from = flat + (o * images + i) * p;
            real b = bias != NULL ? bias[o] : 0;
            for (size_t j = 0; j < p; j++)
                y[j] = from[j] + b;
            y += p;
        }
    }
}

static void forward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv2d_call *call = arg;
    const struct sizes *s = &call->s;
    size_t columns = (end - begin) * s->p;
    real *cols = call_cols(call, thread), *flat = call_flat(call, thread);
    gather_columns(call, cols, begin, end);
    struct gemm_operand a = {.data = call->c->params, .ld = s->k},
                        b = {.data = cols, .ld = columns};
    gemm(s->channels, columns, s->k, flat, columns, a, b, false);
    place_outputs(call->c->y + begin * s->out, flat,
                  added_bias(call->c->layer, call->c->params, s->channels * s->k), end - begin,
                  s->channels, s->p);
}

static void conv2d_forward(const struct layer_call *c)
{
    struct conv2d_call call = call_begin(c);
    exec_for(c->ex, (size_t)c->n, call.s.chunk, forward_chunk, &call);
}

/* Returns the sum of p numbers, computed as eight partial sums: a fixed order that vectorises. */
static inline real sum_lanes(const real *x, size_t p)
{
    enum { LANES = 8 };
    real lane[LANES] = {0}, rest = 0;
    size_t whole = p / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    for (size_t i = whole; i < p; i++)
        rest += x[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7])) + rest;
}

/* flat [O,m,P] <- dy [m,O,P]; dbias [O] += sums of dy, unless dbias is NULL. */
SIMD_CLONES static void gather_gradients(real *restrict flat, real *restrict dbias,
                                         const real *restrict dy, size_t images, size_t channels,
                                         size_t p)
{
    for (size_t i = 0; i < images; i++) {
        for (size_t o = 0; o < channels; o++) {
            memcpy(flat + (o * images + i) * p, dy, p * sizeof *dy);
            if (dbias != NULL)
                dbias[o] += sum_lanes(dy, p);
            dy += p;
        }
    }
}

/* Computes dx of a chunk: the gradient of the columns overwrites the columns and is then summed
 * into dx. */
static void backward_input(const struct conv2d_call *call, real *cols, const real *flat,
                           size_t begin, size_t end)
{
    const struct sizes *s = &call->s;
    size_t columns = (end - begin) * s->p;
    struct gemm_operand w = {.data = call->c->params, .ld = s->k, .transposed = true};
    struct gemm_operand dy = {.data = flat, .ld = columns};
    gemm(s->k, columns, s->channels, cols, columns, w, dy, false);
    memset(call->c->dx + begin * s->in, 0, (end - begin) * s->in * sizeof *cols);
    for (size_t i = begin; i < end; i++)
        col2im_add(call->c->dx + i * s->in, cols + (i - begin) * s->p, columns, call->c->layer);
}

static void backward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv2d_call *call = arg;
    const struct sizes *s = &call->s;
    size_t columns = (end - begin) * s->p;
    real *cols = call_cols(call, thread), *flat = call_flat(call, thread);
    real *dparams = call_partial(call, thread);
    gather_columns(call, cols, begin, end);
    real *dbias = call->c->layer->without_bias ? NULL : dparams + s->channels * s->k;
    gather_gradients(flat, dbias, call->c->dy + begin * s->out, end - begin, s->channels, s->p);
    poll_within(call, thread);
    struct gemm_operand dy = {.data = flat, .ld = columns};
    struct gemm_operand x = {.data = cols, .ld = columns, .transposed = true};
    gemm(s->channels, s->k, columns, dparams, s->k, dy, x, true);
    poll_within(call, thread);
    if (call->c->dx != NULL)
        backward_input(call, cols, flat, begin, end);
}

SIMD_CLONES static void add_partials(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv2d_call *call = arg;
    for (int t = 1; t < pool_threads(call->c->ex->pool); t++) {
        real *restrict sum = call->c->dparams;
        const real *restrict partial = call_partial(call, t);
        for (size_t i = begin; i < end; i++)
            sum[i] += partial[i];
    }
}

static void conv2d_backward(const struct layer_call *c)
{
    struct conv2d_call call = call_begin(c);
    for (int t = c->ex->accumulate ? 1 : 0; t < pool_threads(c->ex->pool); t++)
        memset(call_partial(&call, t), 0, call.s.params * sizeof *c->dparams);
    exec_for(c->ex, (size_t)c->n, call.s.chunk, backward_chunk, &call);
    exec_for(c->ex, call.s.params, ELEMENTS_PER_BLOCK, add_partials, &call);
}

const struct layer_kernel layer_conv2d = {
    .reference = &layer_conv2d_ref,
    .scratch_bytes = conv2d_scratch_bytes,
    .forward = conv2d_forward,
    .backward = conv2d_backward,
};
