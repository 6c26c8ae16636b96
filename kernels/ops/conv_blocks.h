/* Code shared by Winograd's ops and the direct one, on blocks of channels: memory, panels of
 * weights, sums over threads. Layouts: see simd/winograd.h. Internal to kernels/.
 *
 * Threads share the images, in chunks. Each sums the gradient of the weights in its own panels. The
 * last transform adds these in thread order. */
#pragma once

#include "kernels/layers/layer_tables.h"
#include "kernels/ops/norm_blocks.h"
#include "kernels/ops/winograd.h"

/* Chunk size of an op, in images, and sizes of its memory in numbers: v and m per chunk, v saved
 * for all images (`kept`). */
struct conv_sizes {
    size_t chunk, m, v, kept;
    /* Rows of a panel of weights that are transformed at a time, in whole blocks, just before a
     * chunk's product with them. dweights are transformed back just after it. One thread only. 0:
     * all panels are transformed before the chunks. */
    int slice;
};

/* Sizes in reals of the parts of a thread's scratch. m and v as in conv_sizes; du, dbias:
 * gradients. x: x or dx in blocks, if the neighbour uses [N,C,H,W]. y: y or dy likewise, or one
 * block of dy before batch norm. blank: marks of blank outputs. */
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

/* Returns the first panel of dweights. */
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

/* Cost of moving one number, in FLOPs that take as long. */
#define FLOPS_PER_NUMBER 16

/* Lets communication progress after enough work. Only the calling thread polls. */
static inline void conv_poll(const struct conv_call *call, int thread, size_t *flops, size_t more)
{
    *flops += more;
    if (thread != 0 || *flops < FLOPS_PER_BLOCK / 4)
        return;
    *flops = 0;
    exec_poll(call->c->ex);
}

/* Runs forward: prepares bias and panels, runs the chunks, then batch norm. */
void conv_forward(struct conv_call *call, block_function *chunk);

/* Runs backward of batch norm, prepares panels if dx is needed, runs the chunks, sums dweights and
 * dbias. */
void conv_backward(struct conv_call *call, block_function *chunk);

/* Values of a chunk in blocks: x to read, y and dx to write. The `_end` functions finish a write:
 * they copy the values if the neighbour uses [N,C,H,W]. dx may share memory with x. */
const real *conv_chunk_x(const struct conv_call *call, size_t begin, size_t end, int thread);
real *conv_chunk_y(const struct conv_call *call, size_t begin, int thread);
void conv_chunk_y_end(const struct conv_call *call, size_t begin, size_t end, const real *y);
real *conv_chunk_dx(const struct conv_call *call, size_t begin, int thread);
void conv_chunk_dx_end(const struct conv_call *call, size_t begin, size_t end, const real *dx);

/* Output transforms of a chunk: block b of y from M, and block b of dM from dy. Call
 * conv_output_adjoint_begin before the first block of a chunk; it clears dbias before the thread's
 * first chunk. */
void conv_output(const struct conv_call *call, size_t begin, size_t end, int b, real *y,
                 const real *m, int thread);
void conv_output_adjoint_begin(const struct conv_call *call, size_t begin, size_t end, int thread);
void conv_output_adjoint(const struct conv_call *call, size_t begin, size_t end, int b, real *dm,
                         int thread);

/* Returns the number of rows of a panel to transform at a time, from row `first` of k on. */
static inline int conv_slice(const struct conv_call *call, int first, int k)
{
    int slice = call->sizes.slice, left = k - first;
    return slice > 0 && slice < left ? slice : left;
}

/* Return the panel rows [points, conv_slice, block] of block `at` from row `first` on. If weights
 * are sliced, this call transforms the slice. */
const real *conv_panel(const struct conv_call *call, int at, int first);
const real *conv_panel_transposed(const struct conv_call *call, int at, int first);

/* Returns where a thread sums the gradient of panel `at` or its current slice. After the last sum
 * of a chunk, conv_du_end transforms a slice back into dweights. */
real *conv_du(const struct conv_call *call, int thread, int at);
void conv_du_end(const struct conv_call *call, size_t begin, int at, int first);

/* Returns whether a chunk adds to the thread's panels of dweights. False for the thread's first
 * chunk, and if there are slices, which are summed in dweights itself. */
bool conv_du_adds(const struct conv_call *call, size_t begin, int thread);
