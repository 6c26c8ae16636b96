/* A small convolution with pooling, on one image in one thread; see kernels/ops/op_small_conv.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

#define SMALL_CONV_KERNEL_MAX 7
/* Numbers per kernel row in the gradient of a first layer, with padding. */
#define SMALL_CONV_ROW 8
/* Products of Winograd's algorithm for two outputs in a row and 5 taps. */
#define SMALL_CONV_POINTS 6
/* Numbers in the widest vector of all sets; padded sizes are multiples of it. */
#define SMALL_CONV_PAD (64 / (int)sizeof(real))

/* Convolution of kernel x kernel with stride 1 and no padding, then maxima of 2x2 windows. */
struct small_conv {
    size_t in_c, in_h, in_w, out_c, kernel;
    size_t pooled_h, pooled_w;
    bool relu;
    size_t positions;  /* size of a pooled plane, pooled_h * pooled_w, padded */
    size_t vectors;    /* number of vectors in `positions` */
    size_t plane;      /* numbers in one plane of the input */
    size_t transposed; /* size of an input plane, in_h * in_w, padded */
    size_t lanes_c;    /* number of input channels, in_c, padded */
};

/* Work memory of a thread. */
struct small_conv_forward_work {
    const real *x; /* [in_c,in_h,in_w]: the image; 2 more vectors are read */
    real *planes;  /* [in_c][2][kernel + 1][plane], see small_conv_planes.h */
};

struct small_conv_backward_work {
    const real *x;          /* [in_c,in_h,in_w]: the image; 2 more vectors are read */
    real *transposed_x;     /* [lanes_c / PAD][transposed][PAD]: channels are adjacent */
    real *transposed_dx;    /* gradient of transposed_x, in the same layout */
    real *g;                /* [positions + a vector] nonzero gradients of a channel */
    uint32_t *at;           /* first input under the kernel of each g, as y * in_w + x */
    real *dw;               /* first layer: [out_c][in_c][kernel][ROW], others: [out_c][lanes_c /
                             * PAD][kernel^2][PAD] */
    real *dbias;            /* [out_c][PAD] gradients of the bias, summed per lane */
    const uint32_t *starts; /* written by `prepare`, shared by all threads */
};

/* Bit masks over a vector of positions. right_above, right_below: the maximum of the window's
 * upper, lower row is on the right. low: the lower row has the maximum of the window. live: the
 * position has a gradient. */
struct small_conv_marks {
    uint16_t right_above, right_below, low, live;
};

/* Output y [out_c,pooled] of one image. `kept` lists the channels that dropout2d keeps. */
struct small_conv_output {
    real *y;
    struct small_conv_marks *marks; /* [out_c][vectors] marks for backward */
    const uint16_t *kept;
    size_t n_kept;
    real scale; /* factor of kept channels; 1 without dropout2d */
};

struct small_conv_gradient {
    const real *dy;
    const struct small_conv_marks *marks;
    const uint16_t *nonzero; /* positions with nonzero inputs; NULL: all */
    const uint16_t *kept;
    size_t n_kept;
    real scale;
};

struct small_conv_forward_functions {
    size_t lanes; /* lanes per vector */
    /* x [n] <- an image of n bytes. */
    void (*load_bytes)(real *x, const uint8_t *image, size_t n);
    /* nonzero [vectors]: a bit for each position whose window contains a nonzero byte of the image
     * [in_c,in_h,in_w]. For images larger than 64 x 64 all bits are set. */
    void (*mark_nonzero)(const struct small_conv *c, const uint8_t *image, uint16_t *nonzero);
    /* Computes the output of image w->x. weights [out_c,in_c,kernel,kernel]. */
    void (*forward)(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out);
};

/* Convolution with 5 x 5 kernels by Winograd's algorithm. */
struct small_conv_winograd_functions {
    /* Transforms `rows` kernel rows of 5 weights each: to [rows][POINTS]. */
    void (*transform_weights)(real *to, const real *row, size_t rows);
    /* Computes the output of image w->x, with transformed weights [out_c,in_c,5][POINTS]. */
    void (*forward)(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out);
};

struct small_conv_backward_functions {
    /* starts [positions]: first input under the kernel at the top left output of each window, as y
     * * in_w + x. */
    void (*prepare)(const struct small_conv *c, uint32_t *starts);
    /* Adds the gradients of image w->x to w->dw and w->dbias. */
    void (*first)(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const struct small_conv_gradient *in);
    /* Adds the gradients of image w->x to w->dw and w->dbias, and sets dx [in_c,in_h,in_w]. Weights
     * are transposed: [out_c][lanes_c / PAD][kernel^2][PAD]. */
    void (*inner)(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const real *transposed_weights, const struct small_conv_gradient *in, real *dx);
};
