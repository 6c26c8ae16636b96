/* A small convolution with pooling, on one image in one thread; see kernels/ops/op_small_conv.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

#define SMALL_CONV_KERNEL_MAX 7
/* Padded length of a kernel row in the weight gradient of a net's first layer. */
#define SMALL_CONV_ROW 8
/* Number of products in Winograd's algorithm for two adjacent outputs of 5 taps each. */
#define SMALL_CONV_POINTS 6
/* Number of lanes of the widest vector of all instruction sets. Padded sizes are multiples of this
 * number. */
#define SMALL_CONV_PAD (64 / (int)sizeof(real))

/* Convolution with kernel x kernel taps, stride 1 and no padding, then the maximum of each 2x2
 * window. */
struct small_conv {
    size_t in_c, in_h, in_w, out_c, kernel;
    size_t pooled_h, pooled_w;
    bool relu;
    size_t positions;  /* number of pooled outputs per channel, pooled_h * pooled_w, padded */
    size_t vectors;    /* number of vectors that hold `positions` numbers */
    size_t plane;      /* size in reals of each plane of small_conv_planes.h */
    size_t transposed; /* number of input positions, in_h * in_w, rounded up to a multiple of
                          SMALL_CONV_PAD */
    size_t lanes_c;    /* number of input channels, in_c, padded */
};

/* Work memory of a thread in forward. */
struct small_conv_forward_work {
    const real *x; /* [in_c,in_h,in_w] image; up to 2 vectors after it are read */
    real *planes;  /* [in_c][2][kernel + 1][plane] parts of the image: see small_conv_planes.h */
};

struct small_conv_backward_work {
    const real *x;          /* [in_c,in_h,in_w] image; up to 2 vectors after it are read */
    real *transposed_x;     /* [lanes_c / PAD][transposed][PAD] image in which PAD channels of the
                               same position are adjacent */
    real *transposed_dx;    /* gradient of transposed_x, in the same layout */
    real *g;                /* [positions + a vector] list of a channel's gradients that ReLU did
                               not set to 0; may also leave out gradients whose inputs are all
                               zero */
    uint32_t *at;           /* for each gradient in the list g: offset y * in_w + x at which its
                               patch of inputs begins in a channel */
    real *dw;               /* sum of weight gradients; first layer: [out_c][in_c][kernel][ROW],
                             * others: [out_c][lanes_c / PAD][kernel^2][PAD] */
    real *dbias;            /* [out_c][PAD] sum of bias gradients, one sum per lane */
    const uint32_t *starts; /* [positions] result of `prepare`: offset of each pooling window;
                             * shared by all threads */
};

/* Bit masks for a vector of pooling windows, one bit per window. right_above, right_below: in the
 * upper or lower row, the right output is larger than the left one. low: the maximum is in the
 * lower row. live: the window has a gradient. */
struct small_conv_marks {
    uint16_t right_above, right_below, low, live;
};

/* Destination of the pooled output y [out_c,pooled] of one image. `kept` lists the channels that
 * dropout2d keeps; only these channels are computed. */
struct small_conv_output {
    real *y;
    struct small_conv_marks *marks; /* [out_c][vectors] positions of the maxima, for backward */
    const uint16_t *kept;
    size_t n_kept;
    real scale; /* factor that dropout2d applies to kept channels; 1 without dropout2d */
};

struct small_conv_gradient {
    const real *dy;
    const struct small_conv_marks *marks;
    const uint16_t *nonzero; /* [vectors] one bit per window, set if the window has nonzero inputs;
                              * NULL: all bits are set */
    const uint16_t *kept;
    size_t n_kept;
    real scale;
};

struct small_conv_forward_functions {
    size_t lanes; /* lanes per vector */
    /* Converts an image of n bytes to reals: x [n]. */
    void (*load_bytes)(real *x, const uint8_t *image, size_t n);
    /* Sets nonzero [vectors], one bit per pooling window: 1 if its inputs in image [in_c,in_h,in_w]
     * contain a nonzero byte, or if in_h or in_w exceeds 64. */
    void (*mark_nonzero)(const struct small_conv *c, const uint8_t *image, uint16_t *nonzero);
    /* Computes the output of image w->x with weights [out_c,in_c,kernel,kernel]. */
    void (*forward)(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out);
};

/* Convolution with 5 x 5 kernels by Winograd's algorithm. */
struct small_conv_winograd_functions {
    /* Transforms `rows` kernel rows of weights for Winograd's algorithm, from `row` [rows][5] to
     * `to` [rows][POINTS]. */
    void (*transform_weights)(real *to, const real *row, size_t rows);
    /* Computes the output of image w->x, with transformed weights [out_c,in_c,5][POINTS]. */
    void (*forward)(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out);
};

struct small_conv_backward_functions {
    /* Sets starts [positions]: for each pooling window, the offset y * in_w + x of its first input
     * in a channel. */
    void (*prepare)(const struct small_conv *c, uint32_t *starts);
    /* In a net's first layer: adds the gradients of image w->x to w->dw and w->dbias. */
    void (*first)(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const struct small_conv_gradient *in);
    /* In layers after the first: adds the gradients of image w->x to w->dw and w->dbias, and sets
     * dx [in_c,in_h,in_w]. Weights are transposed: [out_c][lanes_c / PAD][kernel^2][PAD]. */
    void (*inner)(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const real *transposed_weights, const struct small_conv_gradient *in, real *dx);
};
