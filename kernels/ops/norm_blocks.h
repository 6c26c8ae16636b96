/* Batch norm [+ ReLU [+ 2x2 pooling]] on blocks of channels, as a separate op (op_norm.c) or the
 * last part of a convolution op. Internal to kernels/.
 *
 * A convolution op calls these functions for each block while the block is in a cache. This saves
 * two of five passes over the input of batch norm, and both passes over the gradient. */
#pragma once

#include "kernels/layers/batchnorm.h"
#include "kernels/ops/conv3x3.h"
#include "kernels/ops/op.h"
#include "kernels/simd/norm.h"

/* State of one call. Layout of `saved`: statistics, then one byte for each number of y, which
 * states the number's origin in the pooling window. Layout of `scratch`: sums over all threads,
 * then four coefficients per channel, then for each thread its sums and its shifts. If the op's
 * output is [N,C,H,W], each thread also has one block of y or dy. */
struct norm_call {
    const struct fused_layers *fused;
    const struct op_call *c;
    const struct layer_desc *layer;
    struct batchnorm_call bn; /* bn.x [N, C/block, h, w, block], of type norm.x_precision */
    struct norm norm;
    const struct norm_functions *functions;
    /* `block`: channels per block; `blocks`: blocks per image; `in`, `stored`: numbers in a block
     * of x (input of batch norm) and of y (output of the epilogue) */
    size_t block, blocks, in, stored;
    uint8_t *from;
    real *terms; /* [C/block, 4, block] four coefficients per channel */
    char *shares;
    size_t share; /* bytes per thread in `shares` */
};

/* Return the sizes of the saved data, scratch and output of batch norm (fused layer `at`) with its
 * epilogue. No fused layer may follow the epilogue. */
size_t norm_saved_bytes(const struct fused_layers *fused, int at, int n);
size_t norm_scratch_bytes(const struct fused_layers *fused, int at, int threads);
size_t norm_out_reals(const struct fused_layers *fused, int at, int n);

/* Prepares a call. x is in blocks of channels, in the op's precision of activations. params are the
 * parameters of batch norm. */
struct norm_call norm_call_begin(const struct fused_layers *fused, int at, const struct op_call *c,
                                 const real *x, const real *params, void *saved, void *scratch);

/* Returns whether forward needs batch statistics. If so, first call norm_sums_begin. The thread to
 * which pool_share assigns an image then calls norm_add_inputs for each block of the image; each
 * thread takes its images in order. In either case, call norm_forward last. It writes y. */
bool norm_wants_sums(const struct norm_call *call);
void norm_sums_begin(const struct norm_call *call);
void norm_add_inputs(const struct norm_call *call, size_t image, size_t b, int thread);
void norm_forward(struct norm_call *call);

/* Computes the gradients of the parameters and, if wants_dx, the coefficients for
 * norm_differentiate. norm_differentiate writes dx [h, w, block] of one block of an image. */
void norm_backward(struct norm_call *call, real *dparams, bool wants_dx);
void norm_differentiate(const struct norm_call *call, real *dx, size_t image, size_t b, int thread);
