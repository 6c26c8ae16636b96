/* 3x3 convolution + bias [+ batch norm] [+ ReLU [+ 2x2 pooling]] by Winograd's algorithm, described
 * in simd/winograd/winograd.h.
 *
 * F4 transforms the 9 weights of a 3x3 kernel to 36 numbers. Usually all weights are transformed
 * before the products. If the weights are few, they stay in a second-level cache while small chunks
 * of images are processed. If they are many and there is only one thread, they are instead
 * transformed slice by slice, each slice just before its product. This costs less than writing all
 * transformed weights to memory and reading them for every chunk. Forward saves V of all images, so
 * that x need not be transformed again.
 *
 * bf16 operands halve the steps of a product and the size of saved V. */
#include <string.h>

#include "kernels/ops/conv_blocks.h"

/* Largest number of tiles in a chunk of several images: 8 x 12. The registers of AVX-512 hold the
 * sums of 12 tiles. With sliced weights chunks are larger, because each chunk transforms the
 * weights again. A block of M (products) and a slice of weights still fit into a second-level
 * cache. */
#define CHUNK_TILES        96
#define CHUNK_TILES_SLICED 256

/* With one thread, transformed weights of at least MANY_BYTES are sliced. A slice's weights for one
 * point of the transform fit into a first-level cache. */
#define MANY_BYTES  ((size_t)2 << 20)
#define SLICE_BYTES ((size_t)640 << 10)
#define SLICE_ROWS  256

/* Returns the number of rows in a slice, a multiple of the block. 0: weights are not sliced,
 * because they are few or shared by several threads. */
static int slice_rows(const struct winograd *w, int threads)
{
    size_t row = winograd_panel(w, 1) * sizeof(real);
    if (threads > 1 || (size_t)w->out_blocks * (size_t)w->in_c * row < MANY_BYTES)
        return 0;
    size_t rows = SLICE_BYTES / row < SLICE_ROWS ? SLICE_BYTES / row : SLICE_ROWS;
    int blocks = (int)(rows / (size_t)w->block);
    return (blocks < 1 ? 1 : blocks) * w->block;
}

static int chunk_images_most(const struct winograd *w, int threads)
{
    int tiles = slice_rows(w, threads) > 0 ? CHUNK_TILES_SLICED : CHUNK_TILES;
    return tiles < winograd_tiles(w) ? 1 : tiles / winograd_tiles(w);
}

/* Returns the number of images per chunk, at most chunk_images_most, such that all chunks have
 * about equal size. */
static size_t chunk_images(const struct winograd *w, int n, int threads)
{
    int most = chunk_images_most(w, threads), chunks = (n + most - 1) / most;
    return (size_t)((n + chunks - 1) / chunks);
}

/* Returns the sizes of a chunk's buffers. `m`: one block of M in forward, all blocks of dM in
 * backward. `v`, only in backward: with bf16 operands first a block of dM with pairs of tiles
 * interleaved; then a block of dV. */
static struct conv_sizes sizes_of(const struct winograd *w, int n, size_t chunk, int threads)
{
    size_t m = winograd_m(w, (int)chunk), dm = winograd_dm(w, (int)chunk);
    return (struct conv_sizes){.chunk = chunk,
                               .m = m > dm ? m : dm,
                               .v = m,
                               .kept = (size_t)n * winograd_v(w),
                               .slice = slice_rows(w, threads)};
}

static struct conv_call call_begin(const struct fused_layers *fused, const struct op_call *c)
{
    struct winograd w = winograd_of(fused);
    int threads = pool_threads(c->ex->pool);
    return conv_call_begin(fused, c, &w,
                           sizes_of(&w, c->n, chunk_images(&w, c->n, threads), threads));
}

typedef const real *panel_function(const struct conv_call *call, int at, int first);

/* For each point of the transform, multiplies all blocks of `a` by panel `at` of the weights.
 * Stores the product, one block of columns, in `c`. Points of `a` are `plane` reals apart. */
static void multiply_panel(const struct conv_call *call, int thread, real *c, const real *a,
                           size_t plane, panel_function *panel_of, int at, int rows, int k)
{
    const struct winograd *w = &call->w;
    size_t points = (size_t)winograd_points(w), block = (size_t)w->block, polled = 0;
    size_t sums = winograd_spread(w->block, rows);
    int run = w->kind == WINOGRAD_F4 && w->pair == 1 ? RUN_F4 : RUN;
    for (int first = 0, count; first < k; first += count) {
        const real *panel = panel_of(call, at, first);
        count = conv_slice(call, first, k);
        for (size_t p = 0; p < points; p++, panel += winograd_spread_plane(w, count)) {
            const real *left = a + ((size_t)first / block * points + p) * plane;
            call->product->rows(c + p * sums, &left, &panel, 1, points * plane, rows, count, run,
                                first > 0);
            conv_poll(call, thread, &polled, 2 * (size_t)rows * block * (size_t)count);
        }
    }
}

/* Interleaves the operands of pairs of tiles in a block, for all points of the Winograd transform.
 * The points are `plane` reals apart. */
static void pair_tiles(const struct conv_call *call, real *to, const real *from, size_t plane,
                       int rows)
{
    for (int p = 0; p < winograd_points(&call->w); p++, to += plane, from += plane)
        call->product->pair(to, from, rows);
}

/* In training with bf16 operands, interleaves pairs of tiles in V after forward has used V, because
 * backward reads V in this order. */
static void pair_kept(const struct conv_call *call, int thread, real *v, int rows)
{
    const struct winograd *w = &call->w;
    size_t plane = winograd_plane(w, rows), block = (size_t)winograd_points(w) * plane, polled = 0;
    if (w->pair == 1 || !call->c->ex->training)
        return;
    for (int b = 0; b < w->in_blocks; b++, v += block) {
        pair_tiles(call, v, v, plane, rows);
        conv_poll(call, thread, &polled, FLOPS_PER_NUMBER * block);
    }
}

static void forward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    const struct winograd *w = &call->w;
    int n = (int)(end - begin), rows = n * winograd_tiles(w);
    real *v = call->kept + begin * winograd_v(w);
    real *m = share_m(call, thread), *y = conv_chunk_y(call, begin, thread);
    call->tiles->input(w, n, v, share_blank(call, thread), conv_chunk_x(call, begin, end, thread));
    for (int b = 0; b < w->out_blocks; b++) {
        multiply_panel(call, thread, m, v, winograd_plane(w, rows), conv_panel, b, rows, w->in_c);
        conv_output(call, begin, end, b, y, m, thread);
    }
    pair_kept(call, thread, v, rows);
    conv_chunk_y_end(call, begin, end, y);
}

/* Multiplies V' of one chunk by block b of dM. Stores the product in the slice of dU that begins at
 * row `first` of panel b, or adds it to the slice if conv_du_adds returns true. Returns the number
 * of rows in the slice. */
static int multiply_slice(const struct conv_call *call, size_t begin, int thread, int b, int first,
                          const real *dm, int rows, size_t *polled)
{
    const struct winograd *w = &call->w;
    size_t points = (size_t)winograd_points(w), plane = winograd_plane(w, rows);
    size_t dm_plane = winograd_spread_plane(w, rows);
    const real *v =
        call->kept + begin * winograd_v(w) + (size_t)(first / w->block) * points * plane;
    real *du = conv_du(call, thread, b);
    int count = conv_slice(call, first, w->in_c);
    bool add = conv_du_adds(call, begin, thread);
    for (size_t p = 0; p < points; p++, dm += dm_plane, v += plane) {
        const real *columns = v;
        real *to = du + p * winograd_spread(w->block, count);
        for (int left = count; left > 0; left -= w->block, columns += points * plane) {
            bool last = left <= w->block;
            const real *next = last ? v + plane : columns + points * plane;
            int channels = last ? left : w->block;
            call->product->columns(to, &columns, &dm, 1, channels, rows, add, next);
            to += (size_t)(channels * w->block);
        }
        conv_poll(call, thread, polled, 2 * (size_t)(rows * w->block) * (size_t)count);
    }
    conv_du_end(call, begin, b, first);
    return count;
}

/* Returns a block of dM in the layout for the product V' dM: with interleaved pairs of tiles if
 * operands are bf16, else unchanged. */
static const real *right_side(const struct conv_call *call, int thread, const real *dm, int rows)
{
    if (call->w.pair == 1)
        return dm;
    pair_tiles(call, share_v(call, thread), dm, winograd_spread_plane(&call->w, rows), rows);
    return share_v(call, thread);
}

/* Computes dM block by block. Multiplies the transpose of V by each block while the block is still
 * in a second-level cache; the product is a panel of dU. */
static void backward_weights(const struct conv_call *call, size_t begin, size_t end, int thread,
                             real *dm)
{
    const struct winograd *w = &call->w;
    int rows = (int)(end - begin) * winograd_tiles(w);
    size_t of_dm = (size_t)winograd_points(w) * winograd_spread_plane(w, rows), polled = 0;
    conv_output_adjoint_begin(call, begin, end, thread);
    for (int b = 0; b < w->out_blocks; b++, dm += of_dm) {
        conv_output_adjoint(call, begin, end, b, dm, thread);
        conv_poll(call, thread, &polled, FLOPS_PER_NUMBER * of_dm);
        const real *right = right_side(call, thread, dm, rows);
        for (int first = 0; first < w->in_c;)
            first += multiply_slice(call, begin, thread, b, first, right, rows, &polled);
    }
}

static void backward_input(const struct conv_call *call, int thread, int n, real *dx,
                           const real *dm)
{
    const struct winograd *w = &call->w;
    real *dv = share_v(call, thread);
    int rows = n * winograd_tiles(w);
    memset(dx, 0, (size_t)n * winograd_in(w) * sizeof *dx);
    for (int b = 0; b < w->in_blocks; b++) {
        multiply_panel(call, thread, dv, dm, winograd_spread_plane(w, rows), conv_panel_transposed,
                       b, rows, w->out_c);
        call->tiles->input_adjoint(w, n, b, dx, dv);
    }
}

static void backward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    int n = (int)(end - begin);
    real *dm = share_m(call, thread);
    backward_weights(call, begin, end, thread, dm);
    if (call->c->dx == NULL)
        return;
    real *dx = conv_chunk_dx(call, begin, thread);
    backward_input(call, thread, n, dx, dm);
    conv_chunk_dx_end(call, begin, end, dx);
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    struct winograd w = winograd_of(fused);
    return conv_saved_bytes(fused, &w, sizes_of(&w, n, 1, 1), n);
}

/* Returns the bytes of scratch for up to n images. Fewer images may be split into larger chunks, so
 * the largest possible chunk is assumed. */
static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    struct winograd w = winograd_of(fused);
    int most = chunk_images_most(&w, threads);
    size_t chunk = (size_t)(most < n ? most : n);
    return conv_scratch_bytes(fused, &w, sizes_of(&w, n, chunk, threads), threads);
}

/* Counts the FLOPs of the matrix products only. Additions and scalings in the transforms are not
 * counted, because the FLOPs of a net count only the multiply-adds of convolutions and dense
 * layers. */
static uint64_t flops_forward(const struct fused_layers *fused)
{
    struct winograd w = winograd_of(fused);
    uint64_t products = (uint64_t)(winograd_points(&w) * winograd_tiles(&w));
    return 2 * products * (uint64_t)w.in_c * (uint64_t)w.out_c;
}

static uint64_t flops_backward(const struct fused_layers *fused)
{
    return (fused->wants_input ? 2 : 1) * flops_forward(fused);
}

static unsigned savings(const struct fused_layers *fused)
{
    struct winograd w = winograd_of(fused);
    return SAVING_BIT(SAVING_winograd) | saving_of_dead_outputs(fused, w.out.h, w.out.w);
}

static void forward(const struct fused_layers *fused, const struct op_call *c)
{
    struct conv_call call = call_begin(fused, c);
    conv_forward(&call, forward_chunk);
}

static void backward(const struct fused_layers *fused, const struct op_call *c)
{
    struct conv_call call = call_begin(fused, c);
    conv_backward(&call, backward_chunk);
}

#define KERNEL(name, in, out, match, out_reals_)                                                   \
    OP_KERNEL(name, in, out, match, .takes_bf16 = true, .out_reals = out_reals_,                   \
              .flops_forward = flops_forward, .flops_backward = flops_backward,                    \
              .savings = savings)

KERNEL(winograd, LAYOUT_BLOCKED, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(winograd_last, LAYOUT_BLOCKED, LAYOUT_NCHW, conv3x3_match_last, NULL);
KERNEL(winograd_first, LAYOUT_NCHW, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(winograd_alone, LAYOUT_NCHW, LAYOUT_NCHW, conv3x3_match_last, NULL);
