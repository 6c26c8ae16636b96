/* A dense layer on images of bytes, as functions of one thread. Compiled once for every instruction
 * set. */
#ifndef SCALEBENCH_KERNELS_SIMD_DENSE_BYTES_H
#define SCALEBENCH_KERNELS_SIMD_DENSE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Inputs are taken in blocks of so many bytes; a block of zeros adds nothing and is left out. */
#define DENSE_BYTES_BLOCK      16
#define DENSE_BYTES_BLOCKS_MAX 1024

/* What stands for input i is scale[i] * byte + shift[i]. */
struct dense_bytes {
    size_t inputs, outputs, blocks;
    const real *scale, *shift; /* [blocks * 16], 0 beyond the inputs */
    const uint8_t *images;     /* [N,inputs] */
};

/* The images that have something in each block, as one thread has met them. */
struct dense_bytes_lists {
    uint32_t *counts; /* [blocks] */
    uint32_t *images; /* [blocks][stride], from `begin` on */
    size_t stride, begin;
};

struct dense_bytes_functions {
    /* folded [outputs][blocks * 16] and bias [outputs] <- params: scale and shift move into them.
     */
    void (*fold)(const struct dense_bytes *d, real *folded, real *bias, const real *params);
    /* y [N,outputs] of images [begin, end), which are appended to the lists. */
    void (*forward)(const struct dense_bytes *d, size_t begin, size_t end, real *y,
                    const real *folded, const real *bias, const struct dense_bytes_lists *lists);
    /* dw [outputs,inputs] of one block <- dy [N,outputs] and the lists of `threads` threads; dbias
     * [outputs] is the sum of dy. */
    void (*backward)(const struct dense_bytes *d, size_t block, real *dw, const real *dy,
                     const real *dbias, const struct dense_bytes_lists *lists, int threads,
                     bool accumulate);
};

#endif
