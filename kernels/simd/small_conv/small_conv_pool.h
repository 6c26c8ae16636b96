/* Epilogue of a small convolution: maximum of each pooling window, scale of dropout2d, and ReLU.
 * Also stores the position of each maximum for backward (struct small_conv_marks). */
#pragma once

#include <math.h>

#include "kernels/simd/lanes.h"
#include "kernels/simd/small_conv/small_conv.h"

#define PLACES 4 /* number of outputs per pooling window */

/* One vector of pooling windows, and where to store its outputs: addresses for channel 0, and
 * strides to the other channels. */
struct windows {
    real *y;                        /* where to store the outputs of channel 0 */
    struct small_conv_marks *marks; /* where to store the marks of channel 0 (positions of the
                                       maxima, for backward) */
    size_t count, vectors;          /* stride between channels: `count` in y, `vectors` in marks */
    vreal scale, floor;
    vmask there;    /* lanes that hold a window */
    uint16_t alive; /* lanes that have a gradient even if the output is <= 0; none with ReLU */
};

INLINE struct windows windows_at(const struct small_conv *c, const struct small_conv_output *out,
                                 size_t position)
{
    size_t count = c->pooled_h * c->pooled_w, left = count - position;
    uint16_t lanes = (uint16_t)(left < VECTOR_LANES ? (1u << left) - 1 : ALL_LANES);
    return (struct windows){
        .y = out->y + position,
        .marks = out->marks + position / VECTOR_LANES,
        .count = count,
        .vectors = c->vectors,
        .scale = vreal_all(out->scale),
        .floor = vreal_all(c->relu ? 0 : -(real)INFINITY),
        .there = vmask_of_bits(lanes),
        .alive = c->relu ? 0 : lanes,
    };
}

/* Stores one channel's maxima and their positions (marks). The first of equal outputs is the
 * maximum. If an output is NaN, the result is NaN. */
INLINE void pool_channel(const struct windows *w, size_t channel, const vreal sums[PLACES])
{
    struct small_conv_marks *marks = w->marks + channel * w->vectors;
    vreal above = vreal_larger(sums[0], sums[1]), below = vreal_larger(sums[2], sums[3]);
    vreal best = vreal_larger(above, below) * w->scale; /* `scale` is positive, so the same output
                                                         * remains the largest */
    marks->right_above = vmask_bits(vreal_greater(sums[1], sums[0]));
    marks->right_below = vmask_bits(vreal_greater(sums[3], sums[2]));
    marks->low = vmask_bits(vreal_greater(below, above));
    marks->live = vmask_bits(vreal_greater(best, w->floor) & w->there) | w->alive;
    best = vreal_larger(w->floor, best);
    vreal_store_where(w->there, w->y + channel * w->count,
                      vreal_pick(vreal_all_ordered(sums), best, vreal_all((real)NAN)));
}
