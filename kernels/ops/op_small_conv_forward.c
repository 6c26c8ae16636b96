/* Forward pass of one small convolution for a range of images. Called by op_small_conv.c. */
#include <string.h>

#include "kernels/layers/dropout_mask.h"
#include "kernels/ops/op_small_conv.h"

/* Folds the conversion of input bytes to numbers (scale and shift per channel) into copies of the
 * weights and the bias. */
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

size_t small_conv_prepare_forward(struct small_conv_call *call, int threads, void *base)
{
    const struct small_conv *c = &call->c;
    struct pieces p = {.base = base};
    real *weights = take(&p, weights_of(c) * sizeof *weights);
    real *bias = take(&p, c->out_c * sizeof *bias);
    real *points = take(&p, small_conv_takes_winograd(c) ? points_of(c) * sizeof *points : 0);
    size_t shared = p.used;
    call->space = take(&p, (image_reals(c) + 2 * SMALL_CONV_PAD) * sizeof(real));
    call->forward_work = (struct small_conv_forward_work){
        .planes = take(&p, c->in_c * 2 * (c->kernel + 1) * c->plane * sizeof(real)),
    };
    call->stride = p.used - shared;
    if (base == NULL)
        return shared + (size_t)threads * call->stride;
    bool drops = call->dropout != NULL && call->op->ex->training;
    *call->saved.scale = drops ? (real)(1.0 / (1.0 - call->dropout->rate)) : 1;
    if (call->bytes)
        fold(call, weights, bias);
    if (call->winograd != NULL)
        call->winograd->transform_weights(points, call->weights, points_of(c) / SMALL_CONV_POINTS);
    call->points = points;
    return shared + (size_t)threads * call->stride;
}

/* Writes to `kept` the channels of an image that dropout2d keeps: all channels if there is no
 * dropout2d, or outside training. Returns the number of these channels. */
static size_t list_kept(const struct small_conv_call *call, size_t image, uint16_t *kept)
{
    const struct exec *ex = call->op->ex;
    uint8_t keep[SMALL_CONV_CHANNELS_MAX];
    size_t n = 0;
    memset(keep, 1, call->c.out_c);
    if (call->dropout != NULL && ex->training)
        dropout_mask_draw_by(call->fused->isa, keep, ex, call->dropout, call->c.out_c,
                             ex->samples[image]);
    for (size_t channel = 0; channel < call->c.out_c; channel++) {
        kept[n] = (uint16_t)channel;
        n += keep[channel];
    }
    return n;
}

void small_conv_forward_images(const struct small_conv_call *call, size_t begin, size_t end,
                               int thread)
{
    const struct small_conv *c = &call->c;
    struct small_conv_forward_work w = call->forward_work;
    real *space = (real *)((char *)call->space + (size_t)thread * call->stride);
    w.planes = (real *)((char *)w.planes + (size_t)thread * call->stride);
    size_t count = pooled_reals(c);
    bool marks_nonzero = call->bytes && call->op->ex->training;
    for (size_t i = begin; i < end; i++) {
        uint16_t kept[SMALL_CONV_CHANNELS_MAX + 1];
        struct small_conv_output out = {
            .y = call->op->y + i * count,
            .marks = call->saved.marks + i * c->out_c * c->vectors,
            .kept = kept,
            .n_kept = list_kept(call, i, kept),
            .scale = *call->saved.scale,
        };
        if (marks_nonzero)
            call->forward->mark_nonzero(c, call->op->image[i],
                                        call->saved.nonzero + i * c->vectors);
        memcpy(call->saved.kept + i * c->out_c, kept, out.n_kept * sizeof *kept);
        call->saved.n_kept[i] = (uint16_t)out.n_kept;
        if (out.n_kept < c->out_c)
            memset(out.y, 0, count * sizeof *out.y);
        if (call->bytes)
            op_prefetch_image(call->op, i + IMAGES_AHEAD, image_reals(c));
        else if (!call->inside && i + 1 < (size_t)call->op->n)
            op_prefetch(call->op->x + (i + 1) * image_reals(c), image_reals(c) * sizeof(real));
        w.x = small_conv_image(call, space, i);
        if (call->winograd != NULL)
            call->winograd->forward(c, &w, call->points, call->bias, &out);
        else
            call->forward->forward(c, &w, call->weights, call->bias, &out);
    }
}
