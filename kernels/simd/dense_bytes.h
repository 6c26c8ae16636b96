/* A dense layer on images of bytes, as functions of one thread. Compiled once for every instruction
 * set; kernels/ops/op_dense_bytes.c says what it is for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Inputs are taken in blocks of so many bytes; a block of zeros adds nothing and is left out. */
#define DENSE_BYTES_BLOCK 16
/* Blocks that a word of marks stands for: each has two bits, of which the first counts. */
#define DENSE_BYTES_WORD 32
/* Images whose marks are transposed together. */
#define DENSE_BYTES_GROUP 64

/* What stands for input i is scale[i] * byte + shift[i]. */
struct dense_bytes {
    size_t inputs, outputs, blocks, words;
    bool without_bias;
    const real *scale, *shift;    /* [blocks * 16], 0 beyond the inputs */
    const uint8_t *const *images; /* [N], each [inputs] */
};

struct dense_bytes_functions {
    /* folded [blocks][outputs][16] and bias [outputs] <- params, of which the bias may be missing: scale and shift move into them. */
    void (*fold)(const struct dense_bytes *d, real *folded, real *bias, const real *params);
    /* y [outputs] of one image. marks [words]: which blocks are not all zero. */
    void (*forward)(const struct dense_bytes *d, const uint8_t *image, real *y, uint64_t *marks,
                    const real *folded, const real *bias);
    /* transposed [words * 32]: which of at most 64 images have something in each block. */
    void (*transpose)(const struct dense_bytes *d, const uint64_t *marks, size_t images,
                      uint64_t *transposed);
    /* dw [outputs,inputs] of one block <- dy [N,outputs] and transposed marks [groups][words * 32];
     * dbias [outputs] is the sum of dy. */
    void (*backward)(const struct dense_bytes *d, size_t block, real *dw, const real *dy,
                     const real *dbias, const uint64_t *transposed, size_t groups, bool accumulate);
};
