/* Convolutions of 3x3 with stride 1, as one bilinear algorithm and its adjoints.
 *
 * Along one axis, the m outputs of a tile are y = A'((G g) * (B'd)) for the t = m + 2 inputs d and
 * the taps g. A' is the transpose of A, and * the elementwise product: p products instead of 3m.
 * In two dimensions the transforms are applied to rows and columns. Let V = B'dB and U = GgG'. For
 * each of the p*p points, M = V U, summed over channels. Then
 *     forward:   y = A'MA
 *     backward:  dM = A dy A',  dV = dM U',  dx = B dV B', overlap-added
 *                               dU = V'dM,   dg = G'dU G
 * Winograd, "Arithmetic complexity of computations", 1980; Lavin, Gray, "Fast algorithms for
 * convolutional neural networks", CVPR 2016.
 *
 * Activations and all operands are in blocks of channels (`block` of struct winograd, two vectors).
 * The last block is padded with zeros:
 *     x, y [N, C/block, h, w, block]     with the h rows and w columns that are read
 *     V, M [C/block, points, tiles, block]   of a chunk of images, tile by tile
 *     U, dU [O/block, points, I, block]      transposed: [I/block, points, O, block]
 * Each product reads both operands in the order of memory. The left matrix of a product is V in
 * forward, and the transpose of V in the gradient of the weights.
 *
 * In the instruction sets avx512_bf16 and amx_bf16, operands (V, dM, U) are rounded to bf16 when a
 * transform stores them. Sums (M, dV, dU) are not. `pair` of struct winograd is the number of
 * operands per `real`: 2 in these sets, else 1. An instruction adds both products of a pair to one
 * sum, so the two terms must be adjacent. Channels in V and dM are adjacent already. Rows of U are
 * stored as
 *     U [O/block, points, I/2, block, 2]
 * For the gradient of the weights, the tiles of V and dM are rearranged to
 *     V, dM [C/block, points, tiles/2, block, 2]
 * An odd number of rows or tiles is padded with zeros. Points of U, dU, M, dM and dV are
 * winograd_spread apart, which leaves a gap after an even number of rows.
 *
 * Tolerance: a result differs from the direct sum of k terms by at most (k + 44) epsilon times S,
 * where S is computed by the same algorithm from the absolute values of all numbers and matrix
 * elements. 44 is the number of roundings on the longest path through the transforms.
 * test_winograd.c derives this bound and checks every number against it. For numbers of equal
 * magnitude, the row sums of the matrices limit this bound to (23.75/3)^2 = 63 (F4), (8/3)^2 = 7.1
 * (F2) or (4/2)^2 = 4 (T2) times the direct sum's own bound. In each tensor of a step's gradient,
 * the norm of the error is below 1e-5 of the norm of the tensor (test_gradients.c).
 *
 * Operands in bf16 have a relative error of at most u = 2^-8 each, so a product has an error of at
 * most 2u + u^2. This adds 65,664 epsilon (0.8 %) to the (k + 44) epsilon. The relative root mean
 * square error is 1.5 % with F4, 0.5 % with F2, 0.6 % with T2 and 0.3 % with direct sums of bf16
 * operands (test_winograd.c).
 *
 * Zeros: an output whose inputs are all zero must be exactly its bias. If the bias is 0, rounding
 * errors would otherwise decide the output's sign, and ReLU would let about half of the gradients
 * of blank areas pass. T2's outputs depend on the whole tile: if its inputs are all zero, so are
 * all products. F2's outputs are exact as well: each depends on three of the tile's four rows and
 * columns, and none of its products involves the fourth. F4's products involve all inner rows. F4's
 * outputs with all-zero inputs are therefore marked during the input transform and set to the bias
 * when stored. The adjoint needs no marks, because the error of dx only enters sums. */
#pragma once

#include <stddef.h>

#include "kernels/base/precision.h"
#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

enum winograd_kind {
    WINOGRAD_F4, /* tiles of 4 outputs per axis, 6 products */
    WINOGRAD_F2, /* tiles of 2 outputs per axis, 4 products */
    WINOGRAD_T2, /* one tile of 2 outputs, 3 products, for an axis of 2 inputs with padding 1 */
    CONV_DIRECT, /* direct sums: points are taps, tiles are single positions */
};

enum { WINOGRAD_POINTS_MAX = 6 };

/* One convolution: its algorithm, its dimensions and the epilogue applied to its outputs. */
struct winograd {
    enum winograd_kind kind;
    enum epilogue epilogue;                  /* epilogue of the convolution; EPILOGUE_NONE if batch
                                              * norm follows */
    bool norm;                               /* whether batch norm follows; `stored` then equals
                                                `out` */
    int points, outputs;                     /* number of points (p) and of outputs (m) of a tile
                                              * along one axis */
    int pair;                                /* operands per real (2 for bf16) */
    int depth;                               /* images per group in `turn`: see `depth` of struct
                                              * winograd_product */
    enum precision x_precision, y_precision; /* types of x and of the stored outputs: see
                                              * operands.h */
    int in_c, out_c, block, in_blocks, out_blocks;
    struct area in, out, stored; /* areas of x, of the convolution's outputs and of y, without parts
                                  * that no layer reads */
    int origin_h, origin_w;      /* position of the first tile's first input, usually -pad */
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

/* Returns the distance in reals between two neighbouring points of U, dU, M, dM and dV: `rows`
 * rounded up to an odd number, times `block`. A transform accesses one row of every point. At
 * distances that are multiples of a large power of two, these rows would compete for a few sets of
 * a cache. V does not use this function: V is kept for all images, and its points are
 * winograd_plane apart. */
static inline size_t winograd_spread(int block, int rows)
{
    return (size_t)(rows | 1) * (size_t)block;
}

/* Return the number of elements of one image's x (winograd_in) and of its stored outputs
 * (winograd_stored). */
static inline size_t winograd_in(const struct winograd *w)
{
    return (size_t)w->in_blocks * (size_t)w->in.h * (size_t)w->in.w * (size_t)w->block;
}

static inline size_t winograd_stored(const struct winograd *w)
{
    return (size_t)w->out_blocks * (size_t)w->stored.h * (size_t)w->stored.w * (size_t)w->block;
}

/* Return the size in reals of one image's x (winograd_in_room) and of its stored outputs
 * (winograd_stored_room). A real holds two 16-bit numbers. */
static inline size_t winograd_in_room(const struct winograd *w)
{
    return winograd_in(w) / precision_per_real(w->x_precision);
}

static inline size_t winograd_stored_room(const struct winograd *w)
{
    return winograd_stored(w) / precision_per_real(w->y_precision);
}

/* Converts a number of rows of operands to the number of rows of reals that hold them: `rows` /
 * pair, rounded up. */
static inline int winograd_steps(const struct winograd *w, int rows)
{
    return (rows + w->pair - 1) / w->pair;
}

/* Returns the size in reals of `rows` rows of V (transformed input), for one point (position in the
 * transformed tile) and one block of channels. */
static inline size_t winograd_plane(const struct winograd *w, int rows)
{
    return (size_t)winograd_steps(w, rows) * (size_t)w->block;
}

/* Returns the size in reals of `rows` rows of one block of operands, padded for `turn` of struct
 * winograd_product. In direct sums, rows are images, and all positions of V and dM are this size
 * apart, so that `turn` can work in place. */
static inline size_t winograd_turned_plane(const struct winograd *w, int rows)
{
    return (size_t)((rows + w->depth - 1) / w->depth * w->depth / w->pair) * (size_t)w->block;
}

/* Returns the size in reals of one image's V (transformed input) in all blocks. n images need at
 * most n times as much. */
static inline size_t winograd_v(const struct winograd *w)
{
    return (size_t)w->in_blocks * (size_t)winograd_points(w) * winograd_plane(w, winograd_tiles(w));
}

/* Returns the distance in reals between points (positions in the transformed kernel or tile) of U
 * or dM with `rows` rows. */
static inline size_t winograd_spread_plane(const struct winograd *w, int rows)
{
    return winograd_spread(w->block, winograd_steps(w, rows));
}

/* Return the size in reals of n images' dM in all blocks (winograd_dm), and of their M or dV in one
 * block (winograd_m). */
static inline size_t winograd_dm(const struct winograd *w, int n)
{
    return (size_t)w->out_blocks * (size_t)winograd_points(w) *
           winograd_spread_plane(w, n * winograd_tiles(w));
}

static inline size_t winograd_m(const struct winograd *w, int n)
{
    return (size_t)winograd_points(w) * winograd_spread(w->block, n * winograd_tiles(w));
}

/* Returns the size in reals of a panel of U or dU: one block of columns, k rows, all points
 * (positions in the transformed kernel). */
static inline size_t winograd_panel(const struct winograd *w, int k)
{
    return (size_t)winograd_points(w) * winograd_spread(w->block, k);
}

/* Transforms for n images. x, y, dx, dy and `from` point to the first image; V and M hold only
 * these images. x and V are in blocks of input channels, y and M of output channels. */
struct winograd_tiles {
    int block, pair;
    /* Transforms inputs: V <- B'dB for each tile d of x, in all blocks. For F4, also writes blank
     * [tiles], with one bit per output of a tile, row by row. The bit of an output is set if all
     * inputs of the output are zero. Exception: a tile that is entirely zero has no bits set,
     * because its outputs are exact anyway. */
    void (*input)(const struct winograd *w, int n, real *v, uint16_t *blank, const real *x);
    /* Adds the adjoint of the input transform to block `at` of dx: dx += B dV B'. dv holds this
     * block only. The caller must zero dx first. */
    void (*input_adjoint)(const struct winograd *w, int n, int at, real *dx, const real *dv);
    /* Transforms outputs: block `at` of y <- A'MA + bias [block], then the epilogue. m holds this
     * block only. blank: result of `input`. from: origin of each output (see conv3x3.h). */
    void (*output)(const struct winograd *w, int n, int at, real *y, uint8_t *from, const real *m,
                   const real *bias, const uint16_t *blank);
    /* Applies the adjoint of the epilogue to one block of image `image` < n, then computes dM <- A
     * dy A' for that image. Unlike above, dy and `from` point to this image and block. dm holds the
     * block for n images. Adds the gradients of the epilogue's inputs to dbias [block]. */
    void (*output_adjoint)(const struct winograd *w, int n, int image, real *dm, real *dbias,
                           const real *dy, const uint8_t *from);
};

/* Transforms of weights [O,I,3,3]. */
struct winograd_weights {
    /* Compute rows [first, first + count) of panel `at` of U (transform) or of the transpose of U
     * (transform_transposed). Store the rows in u [points, count, block]. */
    void (*transform)(const struct winograd *w, int at, int first, int count, real *u,
                      const real *weights);
    void (*transform_transposed)(const struct winograd *w, int at, int first, int count, real *u,
                                 const real *weights);
    /* Computes the gradients of the weights of output block `at` and input channels [first, first +
     * count): dweights <- (or +=, if `add`) G' dU G. dU is the sum, in order, of `parts` panels
     * [points, count, block] that are `stride` numbers apart. */
    void (*adjoint)(const struct winograd *w, int at, int first, int count, real *dweights,
                    const real *du, int parts, size_t stride, bool add);
};

/* Maximum number of terms in a run: terms summed in registers before their sum is added to memory.
 * Each run costs a memory access, but runs reduce the rounding error of long sums several-fold. F4
 * amplifies errors, so it uses RUN_F4. With 16-bit operands it uses RUN, since their rounding
 * dominates. Direct sums of 16-bit operands have no runs. */
enum { RUN = 256, RUN_F4 = 64 };

/* Rows of positions of a direct 3x3 convolution, for `row` and `taps` of struct winograd_product.
 * Position j of a row meets input column origin + j + t with tap t = 0, 1, 2 of a kernel row.
 * Columns outside [0, in_columns) are padding. A column holds n images and a block of channels.
 * Columns are `plane` reals apart. In the gradient of the inputs, `row` reads output gradients as
 * inputs, and tap t has the weights of kernel column 2 - t. */
struct direct_rows {
    int columns; /* number of positions in a row */
    int in_columns, origin;
    size_t plane;
    /* For `row`: number of kernel rows that meet inputs, at most 3. For `taps`: number of rows of
     * positions that meet inputs with this kernel row, possibly 0. */
    int lines;
    /* Column 0 of input rows. For `row`: the row that each kernel row meets. For `taps`: in[0] is
     * the row that the first row of positions meets; further rows follow it. */
    const real *in[3];
    const real *panel[3]; /* for `row`: weights of tap t = 0 in each kernel row */
    /* Distance in reals from tap t to t + 1: of weights (`row`; negative in the gradient of the
     * inputs) or of sums (`taps`). */
    ptrdiff_t tap;
    size_t in_block; /* for `row`: distance in reals between blocks of input channels */
    const real *out; /* for `taps`: right operands, from the first row of positions on */
};

/* Products of matrices in blocks of `block` columns. Operands: reals or 16-bit numbers. Results:
 * reals. Strides are in reals. */
struct winograd_product {
    /* Computes c [rows, block] <- (or +=, if `add`) the sum of the `count` products a[i] b[i], for
     * a[i] [rows, k] and b[i] [k, block]. The columns of a[i] are in blocks that are a_stride
     * apart. Runs of at most `run` terms are summed in registers. With 16-bit operands and odd k,
     * one more column of a[i] is read. Code for AMX tiles reads a[i] to the end of its last block,
     * which must hold finite numbers. */
    void (*rows)(real *c, const real *const *a, const real *const *b, int count, size_t a_stride,
                 int rows, int k, int run, bool add);
    /* Sets c [rows, block] to the sum of the `count` products a[i]' b[i]. If `add`, adds the sum to
     * c instead. a[i]: the first `rows` columns of a matrix [k, block]. b[i]: a matrix [k, block].
     * With 16-bit operands, `turn` has rearranged a[i], and `pair` has rearranged b[i]. Code for
     * vectors prefetches `next` [k, block], an operand of the next call. */
    void (*columns)(real *c, const real *const *a, const real *const *b, int count, int rows, int k,
                    bool add, const real *next);
    /* Interleaves pairs of rows of 16-bit operands into the layout that `columns` reads as b:
     * [rows/2, block, 2] <- [rows, block]. An odd last row is paired with zeros. `to` may equal
     * `from`. `pair` is NULL if operands are reals. */
    void (*pair)(real *to, const real *from, int rows);
    /* Rearranges rows of 16-bit operands into the layout that `columns` and `taps` read on the
     * left. For AMX tiles: [rows/32, block, 32] <- [rows, block], where missing rows are 0. For
     * vectors: like `pair`. `to` may equal `from`. `turn` is NULL if operands are reals. */
    void (*turn)(real *to, const real *from, int rows);
    /* Computes c [columns, n, block], a row of positions of n images. Each position is the sum,
     * over r->lines and three taps, of an input [n, k] times weights [k, block]. Inputs are read to
     * the end of their last block, which must hold finite numbers. NULL without AMX tiles: use
     * `rows`. */
    void (*row)(real *c, const struct direct_rows *r, int n, int k);
    /* Computes c [3, channels, block] (+=, if `add`) for the three taps of a kernel row, r->tap
     * reals apart: the sum over all positions of x' dy. x [n, channels]: inputs, rearranged by
     * `turn`. dy [n, block]: part of r->out, rearranged by `pair` and padded with zeros to a
     * multiple of `depth` images. NULL without AMX tiles: use `columns`. */
    void (*taps)(real *c, const struct direct_rows *r, int channels, int n, bool add);
    int depth; /* `turn` pads to a multiple of this number of rows: 32 for AMX tiles, 2 for other
                * 16-bit operands, 1 for reals */
};
