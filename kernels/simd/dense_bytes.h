/* A dense layer on images of bytes, in one thread; see kernels/ops/op_dense_bytes.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Bytes per block of inputs. Blocks of zeros contribute nothing and are skipped. */
#define DENSE_BYTES_BLOCK 16
/* Blocks per word of marks. Each block has two bits, of which the first is used. */
#define DENSE_BYTES_WORD 32
/* Images whose marks are transposed together. */
#define DENSE_BYTES_GROUP 64

/* Dimensions, and the values of bytes: input i is scale[i] * byte + shift[i]. */
struct dense_bytes {
    size_t inputs, outputs, blocks, words;
    bool without_bias;
    const real *scale, *shift;    /* [blocks * 16], 0 beyond the inputs */
    const uint8_t *const *images; /* [N] images, each [inputs] */
};

struct dense_bytes_functions {
    /* folded [blocks][outputs][16] and bias [outputs] <- params with scale and shift folded in.
     * params may lack the bias. */
    void (*fold)(const struct dense_bytes *d, real *folded, real *bias, const real *params);
    /* Computes y [outputs] of one image, and marks [words] of the blocks that are not all zero. */
    void (*forward)(const struct dense_bytes *d, const uint8_t *image, real *y, uint64_t *marks,
                    const real *folded, const real *bias);
    /* Transposes marks of at most 64 images: transposed [words * 32] has one word per block, with a
     * bit per image. */
    void (*transpose)(const struct dense_bytes *d, const uint64_t *marks, size_t images,
                      uint64_t *transposed);
    /* Computes the gradient of one block: dw [outputs,inputs] <- or += its part, from dy
     * [N,outputs] and transposed marks [groups][words * 32]. dbias [outputs] is the sum of dy. */
    void (*backward)(const struct dense_bytes *d, size_t block, real *dw, const real *dy,
                     const real *dbias, const uint64_t *transposed, size_t groups, bool accumulate);
};
