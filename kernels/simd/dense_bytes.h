/* A dense layer on images of bytes, in one thread; see kernels/ops/op_dense_bytes.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Bytes per block of inputs. Blocks of zeros contribute nothing and are skipped. */
#define DENSE_BYTES_BLOCK 16
/* Blocks per 64-bit word of marks, with two bits per block. The lower bit marks a block that is not
 * all zero; the upper bit is unused. */
#define DENSE_BYTES_WORD 32
/* Number of images whose marks (bits for nonzero blocks) are transposed together. */
#define DENSE_BYTES_GROUP 64

/* Dimensions, images, and the meaning of a byte: input i is scale[i] * byte + shift[i]. */
struct dense_bytes {
    size_t inputs, outputs, blocks, words;
    bool without_bias;
    const real *scale, *shift;    /* [blocks * 16], one per input; 0 beyond the first `inputs` */
    const uint8_t *const *images; /* [N] pointers to images of `inputs` bytes */
};

struct dense_bytes_functions {
    /* Folds scale and shift into a copy of params. folded [blocks][outputs][16]: weights times
     * scale. bias [outputs]: bias plus the contribution of the shift, or only this contribution if
     * params have no bias. */
    void (*fold)(const struct dense_bytes *d, real *folded, real *bias, const real *params);
    /* Computes y [outputs] of one image. Sets in marks [words] one bit for each block that has a
     * nonzero byte. An incomplete last block is always marked. */
    void (*forward)(const struct dense_bytes *d, const uint8_t *image, real *y, uint64_t *marks,
                    const real *folded, const real *bias);
    /* Transposes the marks of at most 64 images. Bit i of transposed[b] is the mark of block b in
     * image i. `marks` has d->words words per image, `transposed` d->words * 32 elements. */
    void (*transpose)(const struct dense_bytes *d, const uint64_t *marks, size_t images,
                      uint64_t *transposed);
    /* Computes the gradient of one block's weights in dw [outputs,inputs] (+=, if `accumulate`).
     * Inputs: dy [N,outputs], gradients of the outputs; dbias [outputs], sum of dy over the images;
     * transposed [groups][words * 32], transposed marks. The mark of a block in an image is one
     * bit, 0 only if all bytes of the block are 0. */
    void (*backward)(const struct dense_bytes *d, size_t block, real *dw, const real *dy,
                     const real *dbias, const uint64_t *transposed, size_t groups, bool accumulate);
};
