/* 3x3 convolution + bias [+ batch norm] [+ ReLU [+ 2x2 pooling]] by direct sums. The exact plan
 * always uses them. The fast plan uses them if chosen, and by default with AMX tiles (is_default in
 * plan.c).
 *
 * A chunk of images is copied so that the numbers of all images at one position are contiguous:
 * [C/block, h, w, n, block]. 16-bit operands are padded to a multiple of `depth` images
 * (winograd_turned_plane). The outputs at a position are then a sum of up to nine matrix
 * products, with images as rows. The sum stays in registers, and small maps are as efficient as
 * large ones. Copying columns for im2col reduced GEMM from 152 to 103 GFLOP/s. Activations and
 * panels of weights have the layouts of Winograd's algorithm, with the taps as points.
 *
 * AMX code computes a row of positions per call, two positions at a time, so that an input in a
 * tile serves several taps. On vgg11_bn and an Intel Xeon with a second-level cache of 2 MiB, the
 * products reach 48 to 65 % of the tiles' peak rate, and 30 to 38 % on maps of 2x2. Loads of tiles
 * from the second-level cache limit the rate. */
#include <limits.h>
#include <string.h>

#include "kernels/ops/conv_blocks.h"

/* Target sizes in bytes of a chunk's inputs plus one block of its outputs, to fit a second-level
 * cache: for operands that are reals (CHUNK_BYTES) and for 16-bit operands (CHUNK_BYTES16). With
 * AMX, that cache has 2 MiB, so a panel of 16-bit weights fits as well. */
#define CHUNK_BYTES   ((size_t)1 << 20)
#define CHUNK_BYTES16 ((size_t)5 << 18)

/* The images of a chunk are the rows of a matrix product. ROWS: number of rows whose sums fit in
 * the registers of AVX-512. TILE: number of rows of an AMX tile. In the gradient of the weights,
 * images are terms, and a row of a tile holds 2 * TILE of them. ROWS_MAX: largest number of images
 * per chunk. */
enum { ROWS = 12, TILE = 16, ROWS_MAX = 96 };

static size_t largest_chunk(const struct winograd *w, int n)
{
    size_t in = (size_t)w->in_blocks * area_pixels(w->in), out = area_pixels(w->out);
    size_t bytes = (in / (size_t)w->pair + out) * (size_t)w->block * sizeof(real);
    size_t rows = w->pair > 1 ? 2 * TILE : ROWS, fit = w->pair > 1 ? CHUNK_BYTES16 : CHUNK_BYTES;
    size_t images = images_per_block(fit, bytes) / rows * rows;
    images = images < rows ? rows : images > ROWS_MAX ? ROWS_MAX : images;
    return images < (size_t)n ? images : (size_t)n;
}

/* Returns the number of images per chunk. Chunks of reals are about equal: a small last chunk would
 * leave most registers unused. Chunks of 16-bit operands are instead multiples of TILE images, to
 * fill AMX tiles; the last chunk may be smaller. */
static size_t chunk_images(const struct winograd *w, int n)
{
    size_t most = largest_chunk(w, n), chunks = ((size_t)n + most - 1) / most;
    size_t images = ((size_t)n + chunks - 1) / chunks, tile = w->pair > 1 ? TILE : 1;
    images = (images + tile - 1) / tile * tile;
    return images < most ? images : most;
}

/* Returns the size in reals of a block of operands for n images: x, or the gradients dm. */
static size_t operands_block(const struct winograd *w, struct area area, int n)
{
    return area_pixels(area) * winograd_turned_plane(w, n);
}

/* Returns the size in reals of a block of sums for n images: m, or the gradients dx. */
static size_t sums_block(const struct winograd *w, struct area area, int n)
{
    return area_pixels(area) * (size_t)n * (size_t)w->block;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns the sizes (struct conv_sizes) for chunks of `chunk` images. With one thread and a single
 * chunk, weights are transformed in slices, each of which is a whole panel. Otherwise there are no
 * slices. After dM of 16-bit operands, m has room for one more block (pair_dm). */
static struct conv_sizes sizes_of(const struct winograd *w, int n, size_t chunk, int threads)
{
    int blocks = w->in_blocks > w->out_blocks ? w->in_blocks : w->out_blocks;
    size_t dm_blocks = (size_t)w->out_blocks + (w->pair > 1);
    return (struct conv_sizes){
        .chunk = chunk,
        .m = larger(sums_block(w, w->out, (int)chunk),
                    dm_blocks * operands_block(w, w->out, (int)chunk)),
        .v = larger(sums_block(w, w->in, (int)chunk),
                    (size_t)w->in_blocks * operands_block(w, w->in, (int)chunk)),
        .slice = threads == 1 && chunk == (size_t)n ? blocks * w->block : 0};
}

static struct conv_call call_begin(const struct fused_layers *fused, const struct op_call *c)
{
    struct winograd w = winograd_of(fused);
    return conv_call_begin(fused, c, &w,
                           sizes_of(&w, c->n, chunk_images(&w, c->n), pool_threads(c->ex->pool)));
}

/* sign: 1 forward (outputs from inputs), -1 backward (gradients of inputs from gradients of
 * outputs). to, from: areas of the results and of the operand. */
struct direction {
    int sign;
    struct area to, from;
};

static struct direction forwards(const struct winograd *w)
{
    return (struct direction){.sign = 1, .to = w->out, .from = w->in};
}

static struct direction backwards(const struct winograd *w)
{
    return (struct direction){.sign = -1, .to = w->in, .from = w->out};
}

/* Products that add up to the value at one position. Product i multiplies the weights of tap tap[i]
 * by the other operand at position[i]. */
struct products {
    int count;
    int tap[TAPS];
    size_t position[TAPS];
};

/* Lists the products that add up to the value at position (i, j). */
static struct products products_of(const struct winograd *w, const struct direction *d, int i,
                                   int j)
{
    struct products m = {0};
    for (int t = 0; t < TAPS; t++) {
        int row = i + d->sign * (w->origin_h + t / 3), column = j + d->sign * (w->origin_w + t % 3);
        if (row < 0 || row >= d->from.h || column < 0 || column >= d->from.w)
            continue;
        m.tap[m.count] = t;
        m.position[m.count++] = (size_t)(row * d->from.w + column);
    }
    return m;
}

/* Operands of products. from: activations or gradients of n images and k channels, in blocks
 * (operands_block). panel: weights of all taps, with k rows each. */
struct factors {
    const real *from, *panel;
    int n, k;
};

/* Computes a row of positions in `to` [columns, n, block], position by position. */
static void multiply_positions(const struct conv_call *call, real *to, const struct direction *d,
                               int row, const struct factors *f)
{
    size_t plane = winograd_turned_plane(&call->w, f->n), blocks = area_pixels(d->from) * plane;
    /* rounding of 16-bit operands dominates, so their sums need no runs */
    int run = call->w.pair > 1 ? INT_MAX : RUN;
    for (int column = 0; column < d->to.w; column++, to += f->n * call->w.block) {
        struct products m = products_of(&call->w, d, row, column);
        const real *a[TAPS], *b[TAPS];
        for (int i = 0; i < m.count; i++) {
            a[i] = f->from + m.position[i] * plane;
            b[i] = f->panel + (size_t)m.tap[i] * winograd_spread_plane(&call->w, f->k);
        }
        call->product->rows(to, a, b, m.count, blocks, f->n, f->k, run, false);
    }
}

/* Returns the first row or column of `from` that position 0 of `to` meets: with tap 0 forwards,
 * with tap 2 backwards. Negative in padding. */
static int origin_of(const struct direction *d, int origin)
{
    return d->sign > 0 ? origin : -origin - 2;
}

/* Computes a row of positions in `to` [columns, n, block] by one call of `row`. */
static void multiply_row(const struct conv_call *call, real *to, const struct direction *d, int row,
                         const struct factors *f)
{
    const struct winograd *w = &call->w;
    size_t plane = winograd_turned_plane(w, f->n), tap = winograd_spread_plane(w, f->k);
    struct direct_rows r = {.columns = d->to.w,
                            .in_columns = d->from.w,
                            .origin = origin_of(d, w->origin_w),
                            .plane = plane,
                            .tap = d->sign * (ptrdiff_t)tap,
                            .in_block = area_pixels(d->from) * plane};
    for (int t = 0; t < 3; t++) {
        int from_row = row + origin_of(d, w->origin_h) + t;
        if (from_row < 0 || from_row >= d->from.h)
            continue;
        r.in[r.lines] = f->from + (size_t)(from_row * d->from.w) * plane;
        r.panel[r.lines++] = f->panel + (size_t)(d->sign > 0 ? 3 * t : TAPS - 1 - 3 * t) * tap;
    }
    call->product->row(to, &r, f->n, f->k);
}

/* Computes `to` [positions, n, block]: all positions of one block of channels. */
static void multiply_block(const struct conv_call *call, int thread, real *to,
                           const struct direction *d, const struct factors *f)
{
    size_t row = (size_t)(d->to.w * f->n * call->w.block), polled = 0;
    for (int i = 0; i < d->to.h; i++, to += row) {
        if (call->product->row != NULL)
            multiply_row(call, to, d, i, f);
        else
            multiply_positions(call, to, d, i, f);
        conv_poll(call, thread, &polled, 2 * row * (size_t)(TAPS * f->k));
    }
}

static void forward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    const struct winograd *w = &call->w;
    int n = (int)(end - begin);
    real *x = share_v(call, thread), *m = share_m(call, thread);
    real *y = conv_chunk_y(call, begin, thread);
    call->tiles->input(w, n, x, NULL, conv_chunk_x(call, begin, end, thread));
    struct direction d = forwards(w);
    for (int b = 0; b < w->out_blocks; b++) {
        struct factors f = {.from = x, .panel = conv_panel(call, b, 0), .n = n, .k = w->in_c};
        multiply_block(call, thread, m, &d, &f);
        conv_output(call, begin, end, b, y, m, thread);
    }
    conv_chunk_y_end(call, begin, end, y);
}

/* Largest number of position pairs (x, dy) per call. A call sums the products of its pairs for one
 * of the nine kernel taps. */
enum { PAIRS = 64 };

struct pairs {
    int count;
    const real *x[PAIRS], *dy[PAIRS];
};

static void multiply_pairs(const struct conv_call *call, real *dw, struct pairs *p, int channels,
                           int n, bool *add)
{
    if (p->count == 0 && *add)
        return;
    const real *near = p->count > 0 ? p->x[0] : dw; /* address to prefetch: any valid one, since the
                                                     * whole chunk is in caches */
    call->product->columns(dw, p->x, p->dy, p->count, channels, n, *add, near);
    p->count = 0;
    *add = true;
}

/* Computes dw [channels, block] of tap t (+=, if `add`): the products of one block of x and one
 * block of dy, summed over all positions. */
static void multiply_tap(const struct conv_call *call, real *dw, int t, const real *x,
                         const real *dy, int channels, int n, bool add)
{
    const struct winograd *w = &call->w;
    size_t plane = winograd_turned_plane(w, n);
    struct pairs p = {.count = 0};
    for (int i = 0; i < w->out.h; i++) {
        int row = i + w->origin_h + t / 3;
        for (int j = 0; j < w->out.w; j++) {
            int column = j + w->origin_w + t % 3;
            if (row < 0 || row >= w->in.h || column < 0 || column >= w->in.w)
                continue;
            p.x[p.count] = x + (size_t)(row * w->in.w + column) * plane;
            p.dy[p.count++] = dy + (size_t)(i * w->out.w + j) * plane;
            if (p.count == PAIRS)
                multiply_pairs(call, dw, &p, channels, n, &add);
        }
    }
    multiply_pairs(call, dw, &p, channels, n, &add);
}

/* Rearranges 16-bit x in place as the left operand of `columns` and `taps`. The terms of these
 * products are images. Does nothing if operands are reals. */
static void turn_x(const struct conv_call *call, real *x, int n)
{
    const struct winograd *w = &call->w;
    size_t plane = winograd_turned_plane(w, n), all = (size_t)w->in_blocks * area_pixels(w->in);
    for (size_t p = 0; w->pair > 1 && p < all; p++, x += plane)
        call->product->turn(x, x, n);
}

/* Returns a block of dm as the right operand of `columns` and `taps`. 16-bit operands are
 * rearranged in `room` (operands_block) and padded with zeros, because dm itself is still needed
 * for dx. Reals are returned in place. */
static const real *pair_dm(const struct conv_call *call, real *room, const real *dm, int n)
{
    size_t plane = winograd_turned_plane(&call->w, n), all = area_pixels(call->w.out);
    if (call->w.pair == 1)
        return dm;
    size_t written = (size_t)((n + 1) / 2 * call->w.block);
    for (size_t p = 0; p < all; p++, dm += plane) {
        real *to = room + p * plane;
        call->product->pair(to, dm, n);
        memset(to + written, 0, (plane - written) * sizeof *to);
    }
    return room;
}

/* Computes dw [3, channels, block] of kernel row `row` (+=, if `add`), from one block of x and one
 * block of dy. The three taps are `tap` reals apart in dw. A kernel row that meets no input sets
 * zeros, or adds nothing. */
static void multiply_taps(const struct conv_call *call, real *dw, size_t tap, int row,
                          const real *x, const real *dy, int channels, int n, bool add)
{
    const struct winograd *w = &call->w;
    size_t plane = winograd_turned_plane(w, n);
    int from = row + w->origin_h, first = from < 0 ? -from : 0;
    int last = w->in.h - from < w->out.h ? w->in.h - from : w->out.h;
    struct direct_rows r = {.columns = w->out.w,
                            .in_columns = w->in.w,
                            .origin = w->origin_w,
                            .plane = plane,
                            .tap = (ptrdiff_t)tap,
                            .lines = last < first ? 0 : last - first};
    r.in[0] = r.lines > 0 ? x + (size_t)((from + first) * w->in.w) * plane : x;
    r.out = r.lines > 0 ? dy + (size_t)(first * w->out.w) * plane : dy;
    call->product->taps(dw, &r, channels, n, add);
}

/* Computes the rows of dw [taps, in_c, block] that belong to block a of x (+=, if `add`). dy: one
 * block of dm, from pair_dm. Taps are winograd_spread apart. */
static void multiply_kernel(const struct conv_call *call, real *dw, int a, const real *x,
                            const real *dy, int n, bool add)
{
    const struct winograd *w = &call->w;
    size_t tap = winograd_spread(w->block, w->in_c);
    int left = w->in_c - a * w->block, channels = left < w->block ? left : w->block;
    dw += (size_t)(a * w->block * w->block);
    x += (size_t)a * operands_block(w, w->in, n);
    if (call->product->taps != NULL)
        for (int row = 0; row < 3; row++)
            multiply_taps(call, dw + 3 * (size_t)row * tap, tap, row, x, dy, channels, n, add);
    else
        for (int t = 0; t < TAPS; t++)
            multiply_tap(call, dw + (size_t)t * tap, t, x, dy, channels, n, add);
}

static void multiply_weights(const struct conv_call *call, size_t begin, int thread, const real *x,
                             real *dm, int n)
{
    const struct winograd *w = &call->w;
    bool add = conv_du_adds(call, begin, thread);
    size_t out = operands_block(w, w->out, n), polled = 0;
    real *room = dm + (size_t)w->out_blocks * out;
    for (int b = 0; b < w->out_blocks; b++) {
        const real *dy = pair_dm(call, room, dm + (size_t)b * out, n);
        for (int a = 0; a < w->in_blocks; a++) {
            multiply_kernel(call, conv_du(call, thread, b), a, x, dy, n, add);
            conv_poll(call, thread, &polled,
                      2 * TAPS * sums_block(w, w->out, n) * (size_t)w->block);
        }
        conv_du_end(call, begin, b, 0);
    }
}

static void backward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    const struct winograd *w = &call->w;
    int n = (int)(end - begin);
    real *x = share_v(call, thread), *m = share_m(call, thread);
    size_t of_m = operands_block(w, w->out, n), polled = 0;
    conv_output_adjoint_begin(call, begin, end, thread);
    for (int b = 0; b < w->out_blocks; b++) {
        conv_output_adjoint(call, begin, end, b, m + (size_t)b * of_m, thread);
        conv_poll(call, thread, &polled, FLOPS_PER_NUMBER * of_m);
    }
    call->tiles->input(w, n, x, NULL, conv_chunk_x(call, begin, end, thread));
    turn_x(call, x, n);
    multiply_weights(call, begin, thread, x, m, n);
    if (call->c->dx == NULL)
        return;
    real *dx = conv_chunk_dx(call, begin, thread);
    struct direction d = backwards(w);
    for (int b = 0; b < w->in_blocks; b++) {
        struct factors f = {
            .from = m, .panel = conv_panel_transposed(call, b, 0), .n = n, .k = w->out_c};
        multiply_block(call, thread, x, &d, &f);
        call->tiles->input_adjoint(w, n, b, dx, x);
    }
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
    return conv_scratch_bytes(fused, &w, sizes_of(&w, n, largest_chunk(&w, n), threads), threads);
}

/* Returns the FLOPs of forward per image. Products with the zeros of padding are skipped, and
 * therefore not counted. */
static uint64_t flops_forward(const struct fused_layers *fused)
{
    struct winograd w = winograd_of(fused);
    struct direction d = forwards(&w);
    uint64_t products = 0;
    for (int i = 0; i < w.out.h; i++)
        for (int j = 0; j < w.out.w; j++)
            products += (uint64_t)products_of(&w, &d, i, j).count;
    return 2 * products * (uint64_t)w.in_c * (uint64_t)w.out_c;
}

static uint64_t flops_backward(const struct fused_layers *fused)
{
    return (fused->wants_input ? 2 : 1) * flops_forward(fused);
}

static unsigned savings(const struct fused_layers *fused)
{
    struct winograd w = winograd_of(fused);
    bool padded = fused->layers->pad_h > 0 || fused->layers->pad_w > 0;
    return (padded ? SAVING_BIT(SAVING_padding) : 0) |
           saving_of_dead_outputs(fused, w.out.h, w.out.w);
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

KERNEL(direct, LAYOUT_BLOCKED, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(direct_last, LAYOUT_BLOCKED, LAYOUT_NCHW, conv3x3_match_last, NULL);
KERNEL(direct_first, LAYOUT_NCHW, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(direct_alone, LAYOUT_NCHW, LAYOUT_NCHW, conv3x3_match_last, NULL);
