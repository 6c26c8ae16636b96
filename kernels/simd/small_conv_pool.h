/* What becomes of the sums of a small convolution's pooling windows: the largest of four, dropout's
 * scale, ReLU, and marks that lead the gradient back. */
#pragma once

#include <math.h>

#include "kernels/simd/lanes.h"
#include "kernels/simd/small_conv.h"

#define PLACES 4 /* in a pooling window */

/* One vector of windows of any channel. */
struct windows {
    real *y;                        /* of channel 0 */
    struct small_conv_marks *marks; /* the same */
    size_t count, vectors;          /* numbers and marks from one channel to the next */
    vreal scale, floor;
    vmask there;    /* lanes that are windows */
    uint16_t alive; /* lanes that have a gradient whatever they are */
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

/* One channel's largest numbers. Of equal values the first counts; NaN wins, and stays. */
INLINE void pool_channel(const struct windows *w, size_t channel, const vreal sums[PLACES])
{
    struct small_conv_marks *marks = w->marks + channel * w->vectors;
    vreal above = vreal_larger(sums[0], sums[1]), below = vreal_larger(sums[2], sums[3]);
    vreal best = vreal_larger(above, below) * w->scale; /* above 0: it changes nothing in their
                                                         * order */
    marks->right_above = vmask_bits(vreal_greater(sums[1], sums[0]));
    marks->right_below = vmask_bits(vreal_greater(sums[3], sums[2]));
    marks->low = vmask_bits(vreal_greater(below, above));
    marks->live = vmask_bits(vreal_greater(best, w->floor) & w->there) | w->alive;
    best = vreal_larger(w->floor, best);
    vreal_store_where(w->there, w->y + channel * w->count,
                      vreal_pick(vreal_all_ordered(sums), best, vreal_all((real)NAN)));
}
