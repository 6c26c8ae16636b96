/* Backward pass of one small convolution for a range of images, and sums of its gradients over
 * threads. Called by op_small_conv.c. */
#include <string.h>

#include "kernels/ops/op_small_conv.h"

static size_t gradient_reals(const struct small_conv_call *call)
{
    const struct small_conv *c = &call->c;
    if (call->fused->wants_input)
        return c->out_c * taps_of(c) * c->lanes_c;
    return c->out_c * c->in_c * c->kernel * SMALL_CONV_ROW;
}

/* Returns the index of weight (o, channel, tap) in the transposed weights. */
static size_t transposed_at(const struct small_conv *c, size_t o, size_t channel, size_t tap)
{
    size_t block = o * (c->lanes_c / SMALL_CONV_PAD) + channel / SMALL_CONV_PAD;
    return (block * taps_of(c) + tap) * SMALL_CONV_PAD + channel % SMALL_CONV_PAD;
}

static void transpose_weights(const struct small_conv_call *call, real *transposed)
{
    const struct small_conv *c = &call->c;
    const real *from = call->weights;
    memset(transposed, 0, gradient_reals(call) * sizeof *transposed);
    for (size_t o = 0; o < c->out_c; o++)
        for (size_t channel = 0; channel < c->in_c; channel++)
            for (size_t tap = 0; tap < taps_of(c); tap++)
                transposed[transposed_at(c, o, channel, tap)] = *from++;
}

size_t small_conv_prepare_backward(struct small_conv_call *call, int threads, void *base)
{
    const struct small_conv *c = &call->c;
    struct pieces p = {.base = base};
    bool inner = call->fused->wants_input;
    real *transposed = take(&p, inner ? gradient_reals(call) * sizeof *transposed : 0);
    uint32_t *starts = take(&p, c->positions * sizeof *starts);
    size_t shared = p.used, transposed_x = inner ? c->transposed * c->lanes_c : 0;
    call->space = take(&p, (image_reals(c) + 2 * SMALL_CONV_PAD) * sizeof(real));
    call->backward_work = (struct small_conv_backward_work){
        .transposed_x = take(&p, transposed_x * sizeof(real)),
        .transposed_dx = take(&p, transposed_x * sizeof(real)),
        .g = take(&p, (c->positions + SMALL_CONV_PAD) * sizeof(real)),
        .at = take(&p, (c->positions + SMALL_CONV_PAD) * sizeof(uint32_t)),
        .dw = take(&p, gradient_reals(call) * sizeof(real)),
        .dbias = take(&p, c->out_c * SMALL_CONV_PAD * sizeof(real)),
        .starts = starts,
    };
    call->group_dx = take(&p, call->inside ? SMALL_CONV_GROUP * image_reals(c) * sizeof(real) : 0);
    call->stride = p.used - shared;
    if (base != NULL)
        call->backward->prepare(c, starts);
    if (base != NULL && inner)
        transpose_weights(call, transposed);
    call->transposed = transposed;
    return shared + (size_t)threads * call->stride;
}

static struct small_conv_backward_work work_of(const struct small_conv_call *call, int thread)
{
    const struct small_conv_backward_work *first = &call->backward_work;
    size_t skip = (size_t)thread * call->stride / sizeof(real);
    return (struct small_conv_backward_work){
        .transposed_x = first->transposed_x + skip,
        .transposed_dx = first->transposed_dx + skip,
        .g = first->g + skip,
        .at = first->at + (size_t)thread * call->stride / sizeof(uint32_t),
        .dw = first->dw + skip,
        .dbias = first->dbias + skip,
        .starts = first->starts,
    };
}

real *small_conv_group_dx(const struct small_conv_call *call, int thread)
{
    return call->group_dx + (size_t)thread * call->stride / sizeof(real);
}

void small_conv_backward_images(const struct small_conv_call *call, size_t begin, size_t end,
                                int thread, real *dx, const real *dy)
{
    const struct small_conv *c = &call->c;
    struct small_conv_backward_work w = work_of(call, thread);
    real *space = call->space + (size_t)thread * call->stride / sizeof(real);
    for (size_t i = begin; i < end; i++) {
        struct small_conv_gradient in = {
            .dy = dy + (i - begin) * pooled_reals(c),
            .marks = call->saved.marks + i * c->out_c * c->vectors,
            .nonzero = call->bytes ? call->saved.nonzero + i * c->vectors : NULL,
            .kept = call->saved.kept + i * c->out_c,
            .n_kept = call->saved.n_kept[i],
            .scale = *call->saved.scale,
        };
        w.x = small_conv_image(call, space, i);
        if (call->bytes)
            op_prefetch_image(call->op, i + 3, image_reals(c));
        if (dx != NULL)
            call->backward->inner(c, &w, call->transposed, &in, dx + (i - begin) * image_reals(c));
        else
            call->backward->first(c, &w, &in);
    }
}

static real sum_of_weight(const struct small_conv_call *call,
                          const struct small_conv_backward_work *w, size_t o, size_t channel,
                          size_t tap)
{
    const struct small_conv *c = &call->c;
    if (call->fused->wants_input)
        return w->dw[transposed_at(c, o, channel, tap)];
    size_t row = (o * c->in_c + channel) * c->kernel + tap / c->kernel;
    return w->dw[row * SMALL_CONV_ROW + tap % c->kernel];
}

static real sum_of_bias(const struct small_conv_backward_work *w, size_t o)
{
    real sum = 0;
    for (size_t i = 0; i < SMALL_CONV_PAD; i++)
        sum += w->dbias[o * SMALL_CONV_PAD + i];
    return sum;
}

/* Adds a thread's sums to dparams: weights [out_c,in_c,taps], then bias [out_c]. */
static void add_thread(const struct small_conv_call *call, const struct small_conv_backward_work *w)
{
    const struct small_conv *c = &call->c;
    real *to = call->op->dparams, *dbias = to + weights_of(c);
    for (size_t o = 0; o < c->out_c; o++) {
        real bias = sum_of_bias(w, o);
        if (!call->fused->layers->without_bias)
            dbias[o] += bias;
        for (size_t channel = 0; channel < c->in_c; channel++)
            for (size_t tap = 0; tap < taps_of(c); tap++) {
                real sum = sum_of_weight(call, w, o, channel, tap);
                *to++ +=
                    call->bytes ? call->scale[channel] * sum + call->shift[channel] * bias : sum;
            }
    }
}

void small_conv_clear_sums(const struct small_conv_call *call)
{
    const struct small_conv *c = &call->c;
    for (int t = 0; t < pool_threads(call->op->ex->pool); t++) {
        memset(work_of(call, t).dw, 0, gradient_reals(call) * sizeof(real));
        memset(work_of(call, t).dbias, 0, c->out_c * SMALL_CONV_PAD * sizeof(real));
    }
}

void small_conv_add_sums(const struct small_conv_call *call)
{
    const struct op_call *op = call->op;
    const struct small_conv *c = &call->c;
    if (!op->ex->accumulate)
        memset(op->dparams, 0, (weights_of(c) + bias_count(call->fused->layers)) * sizeof(real));
    for (int t = 0; t < pool_threads(op->ex->pool); t++) {
        struct small_conv_backward_work w = work_of(call, t);
        add_thread(call, &w);
    }
}
