/* A small convolution with pooling, on one image by one thread. Compiled once for every instruction
 * set; kernels/ops/op_small_conv.c says what it is for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

#define SMALL_CONV_KERNEL_MAX 7
/* Numbers of a row of the kernel, padded, in the gradient of a first layer. */
#define SMALL_CONV_ROW 8
/* Products that Winograd's algorithm has for two outputs of a row of 5 taps. */
#define SMALL_CONV_POINTS 6
/* Numbers of the widest vector: what is padded is padded to a multiple of it, for all sets
 * alike. */
#define SMALL_CONV_PAD (64 / (int)sizeof(real))

/* Stride 1, no padding, kernel x kernel; then the maxima of 2x2 windows. */
struct small_conv {
    size_t in_c, in_h, in_w, out_c, kernel;
    size_t pooled_h, pooled_w;
    bool relu;
    size_t positions;  /* pooled_h * pooled_w, padded */
    size_t vectors;    /* of positions */
    size_t plane;      /* numbers of one plane of the input */
    size_t transposed; /* in_h * in_w, padded */
    size_t lanes_c;    /* in_c, padded */
};

/* What a thread works in. */
struct small_conv_forward_work {
    const real *x; /* [in_c,in_h,in_w]: the image; 2 vectors more are read */
    real *planes;  /* [in_c][2][kernel + 1][plane] */
};

struct small_conv_backward_work {
    const real *x;          /* [in_c,in_h,in_w], as above */
    real *transposed_x;     /* [lanes_c / PAD][transposed][PAD]: channels lie together */
    real *transposed_dx;    /* the same */
    real *g;                /* [positions + a vector] gradients of a channel that are not zero, */
    uint32_t *at;           /* and the first number that each one's kernel sees, as y * in_w + x */
    real *dw;               /* first layer: [out_c][in_c][kernel][ROW], others:
                             * [out_c][lanes_c / PAD][kernel^2][PAD] */
    real *dbias;            /* [out_c][PAD], summed lane by lane */
    const uint32_t *starts; /* of prepare, shared by all threads */
};

/* Of a vector of positions, a bit each: the largest number of a window's upper row stands on the
 * right, or else on the left; that of the lower row; the lower row has the largest of all; it has a
 * gradient. */
struct small_conv_marks {
    uint16_t right_above, right_below, low, live;
};

/* y [out_c,pooled] of one image; the channels that dropout2d leaves are listed in `kept`. */
struct small_conv_output {
    real *y;
    struct small_conv_marks *marks; /* [out_c][vectors] */
    const uint16_t *kept;
    size_t n_kept;
    real scale; /* of what dropout2d leaves, 1 without it */
};

struct small_conv_gradient {
    const real *dy;
    const struct small_conv_marks *marks;
    const uint16_t *nonzero; /* NULL: of all positions */
    const uint16_t *kept;
    size_t n_kept;
    real scale;
};

struct small_conv_forward_functions {
    size_t lanes; /* of a vector */
    /* x [n] <- an image of n bytes. */
    void (*load_bytes)(real *x, const uint8_t *image, size_t n);
    /* nonzero [vectors]: the positions that see a byte of the image [in_c,in_h,in_w] that is not 0; of
     * images larger than 64 x 64 all. */
    void (*mark_nonzero)(const struct small_conv *c, const uint8_t *image, uint16_t *nonzero);
    /* weights [out_c,in_c,kernel,kernel]; w->x is the image. */
    void (*forward)(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out);
};

/* The same for kernels of 5 x 5 with fewer products. */
struct small_conv_winograd_functions {
    /* to [rows][POINTS] <- `rows` rows of kernels, of 5 weights each. */
    void (*transform_weights)(real *to, const real *row, size_t rows);
    /* As forward above, but the weights are transformed: [out_c,in_c,5][POINTS]. */
    void (*forward)(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out);
};

struct small_conv_backward_functions {
    /* starts [positions]: the first number that the kernel of a window's first place sees, as
     * y * in_w + x. */
    void (*prepare)(const struct small_conv *c, uint32_t *starts);
    /* Adds the share of the image w->x to w->dw and w->dbias. */
    void (*first)(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const struct small_conv_gradient *in);
    /* The same, and dx [in_c,in_h,in_w]; weights are transposed:
     * [out_c][lanes_c / PAD][kernel^2][PAD]. */
    void (*inner)(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const real *transposed_weights, const struct small_conv_gradient *in, real *dx);
};
