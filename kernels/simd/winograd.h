/* Convolutions of 3x3, stride 1, as one bilinear algorithm and its adjoints.
 *
 * Along an axis, m outputs of a tile are y = A'((G g) * (B'd)) for the t = m + 2 inputs d and the
 * taps g, with p products instead of 3m; along both axes the transforms are applied to rows and
 * columns. With V = B'dB, U = GgG' and, for each of the p*p points, M = V U summed over channels,
 * that is
 *     forward:   y = A'MA
 *     backward:  dM = A dy A',  dV = dM U',  dx = B dV B', overlap-added
 *                               dU = V'dM,   dg = G'dU G
 * Winograd, "Arithmetic complexity of computations", 1980; Lavin, Gray, "Fast algorithms for
 * convolutional neural networks", CVPR 2016. The adjoints share dM, and V is kept from forward.
 *
 * Values between ops and all operands are in blocks of channels (struct winograd's `block`, two
 * vectors), the last block filled up with zeros:
 *     x, y [N, C/block, h, w, block]     of the h rows and w columns that are read
 *     V, M [C/block, points, tiles, block]   of a chunk of images, a tile after another
 *     U, dU [O/block, points, I, block]      transposed: [I/block, points, O, block]
 * so that each product reads both operands in order, whichever side they are on: the same V is rows
 * of A in forward and columns of A in the weights' gradient.
 *
 * In the sets avx512_bf16 and amx_bf16 operands (V and dM, U; not M, dV and dU, which are sums) are rounded to bf16 when a
 * transform stores them: struct winograd's `pair` is 2 then, else 1, and so many lie in the room of one `real`.
 * An instruction multiplies pairs and adds both products to one sum, so that pairs lie side by side in what
 * a product sums over: channels in V and dM as they are, rows of U in
 *     U [O/block, points, I/2, block, 2]
 * and for the weights' gradient the tiles of V and dM, which are brought into that order:
 *     V, dM [C/block, points, tiles/2, block, 2]
 * An odd number of rows or tiles is filled up with a zero.
 *
 * Tolerance: a result differs from the direct sum of k terms by at most (k + 44) epsilon times the
 * same algorithm on absolute values with absolute matrices, 44 being the roundings of the longest
 * path through the transforms; test_winograd.c derives that and holds every number to it. Numbers
 * of one size and any sign make that, by the sums of the matrices' rows, at most (24/3)^2 = 63
 * times the direct sum's own bound with F4 (39 on average over a tile), (8/3)^2 = 7.1 times with F2
 * and (4/2)^2 = 4 times with T2. What a step's gradient keeps of it is in test_gradients.c: 1e-5 of
 * a tensor's norm. The exact plan uses none of this. Operands of bf16 are each off by u = 2^-8 at most, a
 * product by 2u + u^2: 65,900 epsilon more, 0.8 % of the same sums. In mean square F4 makes 1.5 % of it,
 * F2 0.5 % and T2 0.6 %, where operands of direct sums make 0.3 % (test_winograd.c).
 *
 * Zeros: an output that sees nothing but zeros is exactly its bias. Rounding would else decide
 * whether it is above 0 where biases are, and ReLU, whose slope at 0 is 0, let about half of the
 * gradients of blank areas pass. T2's outputs see all of the tile. F2's are exact by themselves:
 * the products that an output sums have no part in the row and the column of the tile that it does
 * not see. F4's products mix all rows within, so that only rounding is left of what should be
 * nothing; such outputs are marked with the transform of the inputs and set when they are stored.
 * Of the adjoints, dx where all of dy is zero is not marked: it is a term of sums and decides
 * nothing, so that its error counts no more than that of any other number. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

enum winograd_kind {
    WINOGRAD_F4, /* 4 outputs, 6 products */
    WINOGRAD_F2, /* 2 outputs, 4 products */
    WINOGRAD_T2, /* all of an axis of 2 with padding 1, a Toeplitz matrix of 2x2: 3 products */
    CONV_DIRECT, /* none: the points are the taps, the tiles single positions */
};

enum { WINOGRAD_POINTS_MAX = 6 };

/* One convolution. */
struct winograd {
    enum winograd_kind kind;
    enum epilogue epilogue; /* none before batch norm */
    bool norm;              /* batch norm follows: what is stored are all outputs */
    int points, outputs;    /* p and m of an axis */
    int pair;               /* operands in the room of a number */
    enum precision x_precision, y_precision; /* of x, and of what is stored: see operands.h */
    int in_c, out_c, block, in_blocks, out_blocks;
    struct area in, out, stored; /* read of x, of the convolution's output, of y */
    int origin_h, origin_w;      /* input position where the first tile begins, -pad mostly */
    int tiles_h, tiles_w;
};

static inline int winograd_tiles(const struct winograd *w)
{
    return w->tiles_h * w->tiles_w;
}

static inline int winograd_points(const struct winograd *w)
{
    return w->points * w->points;
}

/* Numbers of an image of x, of y, and of its part of M and dV. */
static inline size_t winograd_in(const struct winograd *w)
{
    return (size_t)w->in_blocks * (size_t)w->in.h * (size_t)w->in.w * (size_t)w->block;
}

static inline size_t winograd_stored(const struct winograd *w)
{
    return (size_t)w->out_blocks * (size_t)w->stored.h * (size_t)w->stored.w * (size_t)w->block;
}

/* Numbers' room that an image's x takes, and its stored outputs. */
static inline size_t winograd_in_room(const struct winograd *w)
{
    return winograd_in(w) / precision_per_real(w->x_precision);
}

static inline size_t winograd_stored_room(const struct winograd *w)
{
    return winograd_stored(w) / precision_per_real(w->y_precision);
}

static inline size_t winograd_transformed(const struct winograd *w, int blocks)
{
    return (size_t)blocks * (size_t)winograd_points(w) * (size_t)winograd_tiles(w) *
           (size_t)w->block;
}

/* Numbers that one point of a block of so many rows of operands takes. */
static inline size_t winograd_plane(const struct winograd *w, int rows)
{
    return (size_t)((rows + w->pair - 1) / w->pair) * (size_t)w->block;
}

/* Numbers that an image's operands V or dM take; of n images, n times that hold all. */
static inline size_t winograd_operands(const struct winograd *w, int blocks)
{
    return (size_t)blocks * (size_t)winograd_points(w) * winograd_plane(w, winograd_tiles(w));
}

/* Numbers of one block of columns of U, of K rows; of pairs, U takes half of them. */
static inline size_t winograd_panel(const struct winograd *w, int k)
{
    return (size_t)winograd_points(w) * (size_t)k * (size_t)w->block;
}

/* Transforms of n images; x, y, dx, dy and `from` point to the first of them, V and M hold just
 * these. A block is one of the channels of what is written or read at that side. */
struct winograd_tiles {
    int block, pair;
    /* V <- x, all blocks. blank [tiles] <- the outputs that see nothing but zeros in a tile that is
     * not all zeros, a bit each, row by row; of F4 only, others leave it alone. */
    void (*input)(const struct winograd *w, int n, real *v, uint16_t *blank, const real *x);
    /* dx block `at` += B dV B'; dv holds that block alone. dx is zeroed before. */
    void (*input_adjoint)(const struct winograd *w, int n, int at, real *dx, const real *dv);
    /* y, from block `at` <- M of that block alone, plus bias [block]; blank as input left it */
    void (*output)(const struct winograd *w, int n, int at, real *y, uint8_t *from, const real *m,
                   const real *bias, const uint16_t *blank);
    /* One block of dM <- that of dy, whose images lie `stride` numbers apart, as those of `from`;
     * dbias [block] += the sums of the convolution's dy */
    void (*output_adjoint)(const struct winograd *w, int n, real *dm, real *dbias, const real *dy,
                           const uint8_t *from, size_t stride);
};

/* weights [O,I,3,3] */
struct winograd_weights {
    /* u [points, count, block] <- rows [first, first + count) of block `at` of U, or of the
     * transposed. */
    void (*transform)(const struct winograd *w, int at, int first, int count, real *u,
                      const real *weights);
    void (*transform_transposed)(const struct winograd *w, int at, int first, int count, real *u,
                                 const real *weights);
    /* Weights of the output channels of block `at` and of input channels [first, first + count): <-
     * or += G' dU G, dU the sum of `parts` panels [points, count, block] that lie `stride` apart,
     * in their order. */
    void (*adjoint)(const struct winograd *w, int at, int first, int count, real *dweights,
                    const real *du, int parts, size_t stride, bool add);
};

/* Terms that are added one after the other before their sum goes to memory. A chain of all 4608 terms
 * of a convolution of 512 channels is off by several times what a sum of such runs is, and memory sees
 * one number for so many products. F4's outputs take part in what sums are off by several times over:
 * theirs are shorter. Operands of 16 bits are off by more from the beginning, and take the longer one. */
enum { RUN = 256, RUN_F4 = 64 };

/* Products of operands in blocks of `block` columns; c are numbers, strides count in numbers. */
struct winograd_product {
    /* c [rows, block] <- or += the sum over `count` pairs of a[i] [rows, k] b[i] [k, block]; the
     * blocks of a's columns lie a_stride apart. Of `run` terms at most the sum is held in registers
     * before it goes to c. Of an odd k, rows of operands of 16 bits are read one further; tiles are read to
     * the end of a's last block, where there are finite numbers. */
    void (*rows)(real *c, const real *const *a, const real *const *b, int count, size_t a_stride,
                 int rows, int k, int run, bool add);
    /* c [rows, block] <- or += the sum over `count` pairs of a[i]' b[i] for a[i] [k, rows] of one
     * block, b[i] [k, block]; `next` [k, block] is what caches are asked for meanwhile. */
    void (*columns)(real *c, const real *const *a, const real *const *b, int count, int rows, int k,
                    bool add, const real *next);
    /* [rows/2, block, 2] <- [rows, block] of 16 bits, in the same place or another, as `columns` takes them;
     * NULL where operands are numbers. */
    void (*pair)(real *to, const real *from, int rows);
};
