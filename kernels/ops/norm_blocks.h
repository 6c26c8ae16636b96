/* Batch norm [+ ReLU [+ 2x2 pooling]] on blocks of channels, as a part of an op: by itself
 * (op_norm.c), or behind the convolution that gives its input (conv_blocks.c, op_first_conv.c).
 * A convolution hands each image's block over while a cache still holds it: its numbers are summed
 * then, and its gradient is made when it is wanted, so that of the input's five passes through
 * memory two are left out, and the gradient's two. Internal to kernels/. */
#pragma once

#include "kernels/layers/batchnorm.h"
#include "kernels/ops/conv3x3.h"
#include "kernels/ops/op.h"
#include "kernels/simd/norm.h"

/* Saved: statistics, then a byte a number of y. Scratch: sums; four numbers a channel; for each
 * thread its sums and what they are taken around, and an image's block of y or dy where the op
 * gives [N,C,H,W]. */
struct norm_call {
    const struct fused_layers *fused;
    const struct op_call *c;
    const struct layer_desc *layer;
    struct batchnorm_call bn; /* bn.x [N, C/block, h, w, block], of norm.x_precision */
    struct norm norm;
    const struct norm_functions *functions;
    size_t block, blocks, in, stored; /* numbers of an image's block of x and y */
    uint8_t *from;
    real *terms; /* [C/block, 4, block] */
    char *shares;
    size_t share; /* bytes */
};

/* Of the norm that is layer `at` of the fused layers and its epilogue, which end them. */
size_t norm_saved_bytes(const struct fused_layers *fused, int at, int n);
size_t norm_scratch_bytes(const struct fused_layers *fused, int at, int threads);
size_t norm_out_reals(const struct fused_layers *fused, int at, int n);

/* x as in bn, of 16 bits where the op's values are; params are the norm's. */
struct norm_call norm_call_begin(const struct fused_layers *fused, int at, const struct op_call *c,
                                 const real *x, const real *params, void *saved, void *scratch);

/* Whether forward needs sums of the batch; then norm_sums_begin, norm_add_inputs of every image's
 * every block (by the thread that pool_share gives the image to, in their order), and norm_forward,
 * which writes y. */
bool norm_wants_sums(const struct norm_call *call);
void norm_sums_begin(const struct norm_call *call);
void norm_add_inputs(const struct norm_call *call, size_t image, size_t b, int thread);
void norm_forward(struct norm_call *call);

/* Gradients of the parameters and, where dx is wanted, what norm_differentiate needs: dx [h, w,
 * block] of one image's block. */
void norm_backward(struct norm_call *call, real *dparams, bool wants_dx);
void norm_differentiate(const struct norm_call *call, real *dx, size_t image, size_t b, int thread);
