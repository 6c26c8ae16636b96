/* The first convolution of a net, 3x3 over images of few channels, straight from their bytes.
 *
 * Nine or 27 products a sum are too few for a matrix product: making columns of patches took longer
 * than multiplying them (17-20 GFLOP/s in backward). Here an image is turned into numbers once, in
 * a border of zeros; sums of 2 by 6 outputs and 2 vectors of channels stay in registers, and each
 * number of the image is broadcast from the first-level cache. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

/* Outputs of a group; an image is padded so that groups never end beyond it. */
enum { FIRST_CONV_ROWS = 2, FIRST_CONV_COLUMNS = 6 };

struct first_conv {
    enum epilogue epilogue;     /* none before batch norm */
    bool norm;                  /* batch norm follows: what is stored are all outputs */
    enum precision y_precision; /* of what is stored: see operands.h */
    int in_c, out_c, block, out_blocks;
    struct area out, stored; /* of the convolution's output, of y, that are read */
    int image_h, image_w;    /* of an image with its border */
};

static inline size_t first_conv_image(const struct first_conv *f)
{
    return (size_t)f->in_c * (size_t)f->image_h * (size_t)f->image_w;
}

static inline size_t first_conv_stored(const struct first_conv *f)
{
    return (size_t)f->out_blocks * (size_t)f->stored.h * (size_t)f->stored.w * (size_t)f->block;
}

/* Numbers' room that these take. */
static inline size_t first_conv_kept(const struct first_conv *f)
{
    return first_conv_stored(f) / precision_per_real(f->y_precision);
}

/* Numbers of a block of the weights [O/block, C * 9, block] */
static inline size_t first_conv_panel(const struct first_conv *f)
{
    return (size_t)f->in_c * TAPS * (size_t)f->block;
}

/* One image: x [C, image_h, image_w], y and dy [O/block, h, w, block], `from` a byte a number of
 * y. */
struct first_conv_functions {
    int block;
    /* weights [O/block, C * 9, block], bias [O/block, block] */
    void (*forward)(const struct first_conv *f, real *y, uint8_t *from, const real *x,
                    const real *weights, const real *bias);
    /* dweights, dbias += */
    void (*backward)(const struct first_conv *f, real *dweights, real *dbias, const real *dy,
                     const uint8_t *from, const real *x);
};
