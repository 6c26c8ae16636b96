/* A dense layer with few outputs on the images as they are loaded: softmax regression.
 *
 * Bytes are widened in registers, since numbers made of them beforehand are four times the traffic
 * and slower than widening them once for ten outputs. The normalisation moves into weights and
 * bias: sum w (scale byte + shift) + b = sum (w scale) byte + (b + sum w shift), which makes the
 * background of a drawing an exact zero. Blocks of 16 such zeros, which have no part in the output
 * or in the gradient of the weights, are left out; on MNIST that is about half of them. Speed
 * therefore depends on the data. Forward goes through the blocks of an image and remembers the
 * images of each block, which backward then goes through with the weights' gradient in registers.
 *
 * Threads share the images forward and the blocks backward, so that nothing is summed across
 * threads. */
#include <string.h>

#include "kernels/layer_tables.h"
#include "kernels/simd/dense_bytes.h"
#include "kernels/simd_tables.h"
#include "kernels/step.h"

/* More outputs go through the bytes too often. */
#define OUTPUTS_MAX 40

SIMD_DECLARE(struct dense_bytes_functions, dense_bytes)

/* Where things lie in scratch and in what forward leaves; stride is the images of a list at most.
 */
struct dense_bytes_call {
    const struct step_call *step;
    const struct dense_bytes_functions *f;
    struct dense_bytes d;
    real *folded,
        *sums;         /* params with scale and shift in them; their bias, or the bias's gradient */
    uint32_t *threads; /* of the forward pass */
    struct dense_bytes_lists *lists; /* [threads] */
};

static size_t padded_inputs(const struct layer_desc *l)
{
    return (shape_count(l->in) + DENSE_BYTES_BLOCK - 1) / DENSE_BYTES_BLOCK * DENSE_BYTES_BLOCK;
}

static size_t count_blocks(const struct layer_desc *l)
{
    return padded_inputs(l) / DENSE_BYTES_BLOCK;
}

static int dense_bytes_match(const struct layer_desc *layers, int n, const struct extent *read)
{
    (void)n;
    (void)read;
    return layers->kind == LAYER_dense && layers->channels <= OUTPUTS_MAX &&
           count_blocks(layers) <= DENSE_BYTES_BLOCKS_MAX;
}

/* The number of threads; how many images each has met of each block, and which. */
static size_t dense_bytes_saved_bytes(const struct stretch *s, int n)
{
    return (1 + 2 * (size_t)n * count_blocks(s->layers)) * sizeof(uint32_t);
}

static size_t dense_bytes_scratch_bytes(const struct stretch *s, int n, int threads)
{
    (void)n;
    size_t outputs = (size_t)s->layers->channels, inputs = padded_inputs(s->layers);
    return real_bytes(inputs * (outputs + 2)) + real_bytes(outputs) +
           (size_t)threads * sizeof(struct dense_bytes_lists);
}

/* What bytes stand for, input by input. */
static void fill_scales(const struct stretch *s, real *scale, real *shift)
{
    const struct shape in = s->layers->in;
    size_t plane = (size_t)in.h * (size_t)in.w, i = 0;
    for (int c = 0; c < in.c; c++) {
        const real *value = s->byte_value[c];
        for (size_t end = i + plane; i < end; i++) {
            scale[i] = (value[BYTE_VALUES - 1] - value[0]) / (BYTE_VALUES - 1);
            shift[i] = value[0];
        }
    }
    for (; i < padded_inputs(s->layers); i++)
        scale[i] = shift[i] = 0;
}

static struct dense_bytes_call call_of(const struct stretch *s, const struct step_call *c)
{
    size_t outputs = (size_t)s->layers->channels, padded = padded_inputs(s->layers);
    real *folded = c->scratch, *scale = folded + outputs * padded, *shift = scale + padded;
    real *sums = folded + real_bytes(padded * (outputs + 2)) / sizeof(real);
    fill_scales(s, scale, shift);
    return (struct dense_bytes_call){
        .step = c,
        .f = dense_bytes_for(s->isa),
        .d = {.inputs = shape_count(s->layers->in),
              .outputs = outputs,
              .blocks = count_blocks(s->layers),
              .scale = scale,
              .shift = shift,
              .images = c->images},
        .folded = folded,
        .sums = sums,
        .threads = c->saved,
        .lists = (void *)(sums + real_bytes(outputs) / sizeof(real)),
    };
}

/* Lays the lists out as forward with `threads` threads had them. */
static void place_lists(struct dense_bytes_call *call, int threads)
{
    size_t n = (size_t)call->step->n, blocks = call->d.blocks;
    for (int t = 0; t < threads; t++) {
        size_t begin = 0, end = 0;
        pool_share(n, (size_t)t, (size_t)threads, &begin, &end);
        call->lists[t] = (struct dense_bytes_lists){
            /* A thread without images has no list: there may be more threads than room. */
            .counts = call->threads + 1 + begin * blocks,
            .images = call->threads + 1 + n * blocks,
            .stride = n,
            .begin = begin,
        };
    }
}

static void forward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_bytes_call *call = arg;
    call->f->forward(&call->d, begin, end, call->step->y, call->folded, call->sums,
                     &call->lists[thread]);
}

static void dense_bytes_forward(const struct stretch *s, const struct step_call *c)
{
    struct dense_bytes_call call = call_of(s, c);
    int threads = pool_threads(c->ex->pool);
    *call.threads = (uint32_t)(threads < c->n ? threads : c->n);
    place_lists(&call, threads);
    memset(call.threads + 1, 0, (size_t)c->n * call.d.blocks * sizeof *call.threads);
    call.f->fold(&call.d, call.folded, call.sums, c->params);
    exec_for(c->ex, (size_t)c->n, images_per_block(FLOPS_PER_BLOCK, s->layers->flops_forward),
             forward_block, &call);
}

static void backward_block(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct dense_bytes_call *call = arg;
    for (size_t block = begin; block < end; block++)
        call->f->backward(&call->d, block, call->step->dparams, call->step->dy, call->sums,
                          call->lists, (int)*call->threads, call->step->ex->accumulate);
}

/* sums <- those of dy over the images; added to the bias's gradient. */
static void backward_bias(const struct dense_bytes_call *call)
{
    const struct step_call *c = call->step;
    size_t outputs = call->d.outputs;
    real *dbias = c->dparams + outputs * call->d.inputs;
    for (size_t o = 0; o < outputs; o++)
        call->sums[o] = 0;
    for (size_t i = 0; i < (size_t)c->n * outputs; i += outputs)
        for (size_t o = 0; o < outputs; o++)
            call->sums[o] += c->dy[i + o];
    for (size_t o = 0; o < outputs; o++)
        dbias[o] = (c->ex->accumulate ? dbias[o] : 0) + call->sums[o];
}

static void dense_bytes_backward(const struct stretch *s, const struct step_call *c)
{
    struct dense_bytes_call call = call_of(s, c);
    place_lists(&call, (int)*call.threads);
    backward_bias(&call);
    size_t cost = (size_t)c->n * 2 * DENSE_BYTES_BLOCK * call.d.outputs;
    exec_for(c->ex, call.d.blocks, images_per_block(FLOPS_PER_BLOCK, cost), backward_block, &call);
}

/* All FLOPs of the layer count as done: how many are left out depends on the images. */
const struct step_kernel step_dense_bytes = {
    .name = "dense_bytes",
    .in = LAYOUT_BYTES,
    .out = LAYOUT_NCHW,
    .match = dense_bytes_match,
    .saved_bytes = dense_bytes_saved_bytes,
    .scratch_bytes = dense_bytes_scratch_bytes,
    .forward = dense_bytes_forward,
    .backward = dense_bytes_backward,
};
