/* Code shared by op_winograd.c and op_direct.c: memory, panels of weights, sums over threads.
 * Layouts: see simd/winograd/winograd.h. Internal to kernels/.
 *
 * Threads share the images, in chunks. Each thread sums the gradient of the weights in its own
 * panels. The transform back to weights adds the panels of all threads in thread order. */
#pragma once

#include "kernels/layers/layer_tables.h"
#include "kernels/ops/norm_blocks.h"
#include "kernels/ops/winograd.h"

/* chunk: number of images in a chunk. m, v: sizes of a thread's buffers for one chunk, in reals; m
 * is for M (products) or dM, v for V (transformed inputs), dV or dM. kept: size of the V that is
 * saved for all images, in reals. */
struct conv_sizes {
    size_t chunk, m, v, kept;
    /* Number of rows in a slice of a panel of weights, a multiple of the block. A slice is
     * transformed just before the product that uses it. The gradient of a slice is transformed back
     * just after the product that computes it. Slices are only used with one thread. 0: no slices;
     * all panels are transformed before the first chunk. */
    int slice;
};

/* Sizes in reals of a thread's scratch. m, v: buffers for one chunk (struct conv_sizes). du, dbias:
 * gradients of transformed weights and bias. x: x or dx in blocks, if the input is [N,C,H,W]. y: y
 * or dy in blocks, if the output is [N,C,H,W]; with batch norm, one block of dy of one image.
 * blank: marks of outputs with all-zero inputs, for F4 tiles only. all: sum of these sizes. */
struct conv_share {
    size_t m, v, du, dbias, x, y, blank, all;
};

struct conv_call {
    const struct fused_layers *fused;
    const struct op_call *c;
    struct winograd w;
    const struct winograd_tiles *tiles;
    const struct winograd_weights *weights;
    const struct winograd_product *product;
    const struct block_functions *blocks;
    struct conv_sizes sizes;
    struct conv_share share;
    real *kept;
    uint8_t *from;
    real *u, *bias, *shares;
    real *z;               /* input of batch norm, saved instead of y; only if w.norm */
    struct norm_call norm; /* batch norm after the convolution; valid only if w.norm */
};

struct conv_call conv_call_begin(const struct fused_layers *fused, const struct op_call *c,
                                 const struct winograd *w, struct conv_sizes sizes);
size_t conv_saved_bytes(const struct fused_layers *fused, const struct winograd *w,
                        struct conv_sizes sizes, int n);
size_t conv_scratch_bytes(const struct fused_layers *fused, const struct winograd *w,
                          struct conv_sizes sizes, int threads);
size_t conv_out_reals(const struct fused_layers *fused, int n);

static inline real *share_m(const struct conv_call *call, int thread)
{
    return call->shares + (size_t)thread * call->share.all;
}

static inline real *share_v(const struct conv_call *call, int thread)
{
    return share_m(call, thread) + call->share.m;
}

/* Returns the first of the thread's own panels. The thread sums the gradient of the weights in
 * these panels. */
static inline real *share_du(const struct conv_call *call, int thread)
{
    return share_v(call, thread) + call->share.v;
}

static inline real *share_dbias(const struct conv_call *call, int thread)
{
    return share_du(call, thread) + call->share.du;
}

static inline real *share_x(const struct conv_call *call, int thread)
{
    return share_dbias(call, thread) + call->share.dbias;
}

static inline real *share_y(const struct conv_call *call, int thread)
{
    return share_x(call, thread) + call->share.x;
}

static inline uint16_t *share_blank(const struct conv_call *call, int thread)
{
    return (uint16_t *)(share_y(call, thread) + call->share.y);
}

/* Number of FLOPs that take as long as copying one number in memory. */
#define FLOPS_PER_NUMBER 16

/* Adds `more` to *flops. After FLOPS_PER_BLOCK / 4 FLOPs, thread 0 resets *flops and polls
 * communication. Other threads never poll. */
static inline void conv_poll(const struct conv_call *call, int thread, size_t *flops, size_t more)
{
    *flops += more;
    if (thread != 0 || *flops < FLOPS_PER_BLOCK / 4)
        return;
    *flops = 0;
    exec_poll(call->c->ex);
}

/* Runs forward: prepares the bias, transforms the weights into panels, and calls `chunk` for all
 * chunks of images. If sizes.slice > 0, `chunk` itself transforms the weights instead, a few rows
 * at a time. If w.norm is set, batch norm runs last. */
void conv_forward(struct conv_call *call, block_function *chunk);

/* Runs backward: runs batch norm if w.norm is set, transforms the weights into transposed panels if
 * dx is needed, and calls `chunk` for all chunks of images. Finally sums dweights and dbias over
 * the threads. If sizes.slice > 0, `chunk` itself transforms the weights and finishes dweights. */
void conv_backward(struct conv_call *call, block_function *chunk);

/* Return a chunk of images in blocks of channels: x to read, y and dx to write. After writing y or
 * dx, call conv_chunk_y_end or conv_chunk_dx_end. They copy the chunk to the op's own y or dx if
 * that tensor has layout [N,C,H,W]. With batch norm, y is the input of the norm and is not copied.
 * dx may share memory with x. */
const real *conv_chunk_x(const struct conv_call *call, size_t begin, size_t end, int thread);
real *conv_chunk_y(const struct conv_call *call, size_t begin, int thread);
void conv_chunk_y_end(const struct conv_call *call, size_t begin, size_t end, const real *y);
real *conv_chunk_dx(const struct conv_call *call, size_t begin, int thread);
void conv_chunk_dx_end(const struct conv_call *call, size_t begin, size_t end, const real *dx);

/* conv_output transforms block b of a chunk's products M to block b of y. It also adds this block
 * of y to the batch sums if batch norm needs them. conv_output_adjoint transforms block b of dy to
 * dM. Before the first block of a chunk, call conv_output_adjoint_begin. */
void conv_output(const struct conv_call *call, size_t begin, size_t end, int b, real *y,
                 const real *m, int thread);
void conv_output_adjoint_begin(const struct conv_call *call, size_t begin, size_t end, int thread);
void conv_output_adjoint(const struct conv_call *call, size_t begin, size_t end, int b, real *dm,
                         int thread);

/* Returns the number of rows in the slice that begins at row `first` of a panel with k rows. */
static inline int conv_slice(const struct conv_call *call, int first, int k)
{
    int slice = call->sizes.slice, left = k - first;
    return slice > 0 && slice < left ? slice : left;
}

/* Return rows [first, first + conv_slice) of panel `at`, as [points, rows, block]. If weights are
 * sliced, these functions first compute the rows from the weights. */
const real *conv_panel(const struct conv_call *call, int at, int first);
const real *conv_panel_transposed(const struct conv_call *call, int at, int first);

/* Returns the address at which a thread sums the gradient of panel `at`, or of its current slice if
 * weights are sliced. Call conv_du_end when the sums over a chunk of images are complete.
 * conv_du_end transforms the sums of a slice back to dweights; without slices it does nothing. */
real *conv_du(const struct conv_call *call, int thread, int at);
void conv_du_end(const struct conv_call *call, size_t begin, int at, int first);

/* Returns whether a chunk adds its gradients to the thread's sums (conv_du); false: the chunk
 * overwrites the sums. False for the thread's first chunk. Also false if weights are sliced, since
 * conv_du_end then adds up the gradients of the chunks. */
bool conv_du_adds(const struct conv_call *call, size_t begin, int thread);
