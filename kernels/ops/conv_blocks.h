/* What the ops on blocks of channels share, Winograd's and the direct one: memory, weights in
 * panels, and the sums over threads. See simd/winograd.h for layouts. Internal to kernels/.
 *
 * Threads share the images, in chunks. Each sums the weights' gradient in its own panels; the last
 * transform adds them in the order of the threads. */
#pragma once

#include "kernels/layers/layer_tables.h"
#include "kernels/ops/norm_blocks.h"
#include "kernels/ops/winograd.h"

/* How an op cuts n images, and what it wants: numbers of v and m for a chunk, and of v that
 * forward keeps for all images. */
struct conv_sizes {
    size_t chunk, m, v, kept;
    /* Rows of a panel of weights, whole blocks, that are made at a time, right before a chunk's
     * product with them, and dweights' likewise right behind; one thread only. 0: all panels are
     * made before the chunks. */
    int slice;
};

/* Numbers of a thread's share of the scratch: what the sizes say, panels of dweights, dbias; and,
 * in blocks where a neighbour has [N,C,H,W], x or dx, and y or dy; before batch norm a block of dy;
 * marks of blank outputs. */
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
    real *z;               /* before batch norm: what it reads, kept in the place of y */
    struct norm_call norm; /* where w.norm */
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

/* The first panel of dweights. */
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

/* FLOPs that take as long as moving a number does. */
#define FLOPS_PER_NUMBER 16

/* Only the calling thread polls, after every so much work. */
static inline void conv_poll(const struct conv_call *call, int thread, size_t *flops, size_t more)
{
    *flops += more;
    if (thread != 0 || *flops < FLOPS_PER_BLOCK / 4)
        return;
    *flops = 0;
    exec_poll(call->c->ex);
}

/* Prepares bias and panels, then runs the chunks, then batch norm. */
void conv_forward(struct conv_call *call, block_function *chunk);

/* Begins with batch norm. Prepares panels where dx is wanted, runs the chunks, adds up dweights and
 * dbias. */
void conv_backward(struct conv_call *call, block_function *chunk);

/* A chunk's values in blocks: x to be read, y and dx to be written; and the end of a write, which
 * moves them on where the neighbour has [N,C,H,W]. dx takes the place of x. */
const real *conv_chunk_x(const struct conv_call *call, size_t begin, size_t end, int thread);
real *conv_chunk_y(const struct conv_call *call, size_t begin, int thread);
void conv_chunk_y_end(const struct conv_call *call, size_t begin, size_t end, const real *y);
real *conv_chunk_dx(const struct conv_call *call, size_t begin, int thread);
void conv_chunk_dx_end(const struct conv_call *call, size_t begin, size_t end, const real *dx);

/* Output transforms of a chunk: block b of y from M, and dM from dy, of that block alone. Before
 * its first block the latter must begin, which clears dbias before the thread's first chunk. */
void conv_output(const struct conv_call *call, size_t begin, size_t end, int b, real *y,
                 const real *m, int thread);
void conv_output_adjoint_begin(const struct conv_call *call, size_t begin, size_t end, int thread);
void conv_output_adjoint(const struct conv_call *call, size_t begin, size_t end, int b, real *dm,
                         int thread);

/* Rows of a panel of k that are there at a time. */
static inline int conv_slice(const struct conv_call *call, int first, int k)
{
    int slice = call->sizes.slice, left = k - first;
    return slice > 0 && slice < left ? slice : left;
}

/* [points, conv_slice, block], from row `first` of block `at` on, of the panels that conv_forward
 * or conv_backward prepares; made here if they did not. */
const real *conv_panel(const struct conv_call *call, int at, int first);
const real *conv_panel_transposed(const struct conv_call *call, int at, int first);

/* Where such a part of the panels of dweights is summed; and its end, after the chunk's last
 * sum. */
real *conv_du(const struct conv_call *call, int thread, int at);
void conv_du_end(const struct conv_call *call, size_t begin, int at, int first);

/* Whether a chunk adds to the thread's panels of dweights: it is not its first, and there are no slices,
 * which are added up in dweights itself. */
bool conv_du_adds(const struct conv_call *call, size_t begin, int thread);
