/* Batch norm [+ ReLU [+ 2x2 pooling]] on one image's block of channels [h,w,block]. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

struct norm {
    enum epilogue epilogue;
    enum precision x_precision, y_precision; /* types of x and y: see operands.h */
    struct area in, stored;                  /* `in`: part of x that is read; `stored`: part of y
                                                that later layers read */
};

struct norm_functions {
    int block;
    /* Copies the inputs at the first pixel of x, one per channel of the block, to `to` [block]. */
    void (*first_inputs)(const struct norm *n, real *to, const real *x);
    /* Adds x - shift and (x - shift)^2, summed over positions, to sums [2, block]. */
    void (*sum_inputs)(const struct norm *n, double *sums, const real *x, const real *shift);
    /* Computes (x - mean) * scale + bias, with mean, scale and bias [block], applies the epilogue
     * and stores y. */
    void (*normalise)(const struct norm *n, real *y, uint8_t *from, const real *x, const real *mean,
                      const real *scale, const real *bias);
    /* Adds d and d * (x - mean), summed over positions, to sums [2, block]. d is dy after the
     * adjoint of the epilogue. */
    void (*sum_gradients)(const struct norm *n, double *sums, const real *dy, const uint8_t *from,
                          const real *x, const real *mean);
    /* Computes dx <- of_dy * d + (of_x * (x - mean) + constant), with d as in sum_gradients. terms
     * [4, block]: mean, of_dy, of_x, constant. */
    void (*differentiate)(const struct norm *n, real *dx, const real *dy, const uint8_t *from,
                          const real *x, const real *terms);
};
