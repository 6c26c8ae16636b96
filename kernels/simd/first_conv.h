/* The first convolution of a net: 3x3, on images of bytes with few channels.
 *
 * With 9 or 27 products per sum, gathering input patches (im2col) took longer than the matrix
 * product. Here each pass converts an image to reals once, with a border of zeros. Forward keeps
 * the sums of 2 by 6 outputs (2 by 2 without AVX-512) for 2 vectors of channels in registers, and
 * broadcasts inputs from the first-level cache. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

/* Rows and columns of the largest group of outputs that are computed together. The border of images
 * is wide enough for whole groups. */
enum { FIRST_CONV_ROWS = 2, FIRST_CONV_COLUMNS = 6 };

struct first_conv {
    enum epilogue epilogue;     /* convolution's epilogue; EPILOGUE_NONE if batch norm follows */
    bool norm;                  /* whether batch norm follows; `stored` then equals `out` */
    enum precision y_precision; /* type of the stored outputs: see operands.h */
    int in_c, out_c, block, out_blocks;
    struct area out, stored; /* `out`: part of the convolution's output that later layers read.
                                `stored`: part of y that later layers read. With PLAN_EXACT: the
                                whole output, and the whole y */
    int image_h, image_w;    /* rows and columns of an image with its border */
};

static inline size_t first_conv_image(const struct first_conv *f)
{
    return (size_t)f->in_c * (size_t)f->image_h * (size_t)f->image_w;
}

static inline size_t first_conv_stored(const struct first_conv *f)
{
    return (size_t)f->out_blocks * (size_t)f->stored.h * (size_t)f->stored.w * (size_t)f->block;
}

/* Returns the size in reals of the stored outputs of one image, with 16-bit numbers packed. */
static inline size_t first_conv_kept(const struct first_conv *f)
{
    return first_conv_stored(f) / precision_per_real(f->y_precision);
}

/* Returns the number of weights per block of output channels. */
static inline size_t first_conv_panel(const struct first_conv *f)
{
    return (size_t)f->in_c * TAPS * (size_t)f->block;
}

/* Functions for one image x [C, image_h, image_w]. y, dy and `from` are [O/block, h, w, block].
 * `from`: position of each y in its pooling window (origin, see conv3x3.h). */
struct first_conv_functions {
    int block;
    /* Computes y and `from`. weights: [O/block, C * 9, block]. bias: [O/block, block]. */
    void (*forward)(const struct first_conv *f, real *y, uint8_t *from, const real *x,
                    const real *weights, const real *bias);
    /* Adds the image's contributions to dweights and dbias. */
    void (*backward)(const struct first_conv *f, real *dweights, real *dbias, const real *dy,
                     const uint8_t *from, const real *x);
};
