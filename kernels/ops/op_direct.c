/* 3x3 convolution + bias [+ batch norm] [+ ReLU [+ 2x2 pooling]] by direct sums, for the exact plan
 * and, if chosen, the fast plan.
 *
 * A chunk of images is copied so that the numbers of all images at one position are contiguous:
 * [C/block, h, w, n, block]. The outputs at a position are then a sum of up to nine matrix
 * products, with images as rows. The sum stays in registers, and small maps are as efficient as
 * large ones. Copying columns for im2col reduced GEMM from 152 to 103 GFLOP/s. Activations and
 * panels of weights have the layouts of Winograd's algorithm, with the taps as points. */
#include "kernels/ops/conv_blocks.h"

/* Target size in bytes of a chunk's inputs plus one block of its outputs, to fit a second-level
 * cache. */
#define CHUNK_BYTES ((size_t)1 << 20)

/* The images of a chunk are the rows of a matrix product. ROWS: number of rows whose sums fit in
 * the registers of AVX-512. ROWS_MAX: largest number of images per chunk. */
enum { ROWS = 12, ROWS_MAX = 96 };

static size_t largest_chunk(const struct winograd *w, int n)
{
    size_t in = (size_t)w->in_blocks * area_pixels(w->in), out = area_pixels(w->out);
    size_t bytes = (in + out) * (size_t)w->block * sizeof(real);
    size_t images = images_per_block(CHUNK_BYTES, bytes) / ROWS * ROWS;
    images = images < ROWS ? ROWS : images > ROWS_MAX ? ROWS_MAX : images;
    return images < (size_t)n ? images : (size_t)n;
}

/* Returns the number of images per chunk, about equal for all chunks: a small last chunk would
 * leave most registers unused. */
static size_t chunk_images(const struct winograd *w, int n)
{
    size_t most = largest_chunk(w, n), chunks = ((size_t)n + most - 1) / most;
    return ((size_t)n + chunks - 1) / chunks;
}

/* Returns the sizes (struct conv_sizes) for chunks of `chunk` images. With one thread and a single
 * chunk, weights are transformed in slices, each of which is a whole panel. Otherwise there are no
 * slices. */
static struct conv_sizes sizes_of(const struct winograd *w, int n, size_t chunk, int threads)
{
    int blocks = w->in_blocks > w->out_blocks ? w->in_blocks : w->out_blocks;
    return (struct conv_sizes){
        .chunk = chunk,
        .m = chunk * (size_t)w->out_blocks * area_pixels(w->out) * (size_t)w->block,
        .v = chunk * (size_t)w->in_blocks * area_pixels(w->in) * (size_t)w->block,
        .slice = threads == 1 && chunk == (size_t)n ? blocks * w->block : 0};
}

static struct conv_call call_begin(const struct fused_layers *fused, const struct op_call *c)
{
    struct winograd w = winograd_of(fused);
    return conv_call_begin(fused, c, &w,
                           sizes_of(&w, c->n, chunk_images(&w, c->n), pool_threads(c->ex->pool)));
}

/* Products that add up to the value at one position. Product i multiplies the weights of tap tap[i]
 * by the other operand at position[i]. */
struct products {
    int count;
    int tap[TAPS];
    size_t position[TAPS];
};

/* Lists the products of a weight and an input that add up to output (i, j). */
static struct products inputs_of(const struct winograd *w, int i, int j)
{
    struct products m = {0};
    for (int t = 0; t < TAPS; t++) {
        int row = i + w->origin_h + t / 3, column = j + w->origin_w + t % 3;
        if (row < 0 || row >= w->in.h || column < 0 || column >= w->in.w)
            continue;
        m.tap[m.count] = t;
        m.position[m.count++] = (size_t)(row * w->in.w + column);
    }
    return m;
}

/* Lists the products of a weight and an output gradient that add up to the gradient of input (i,
 * j). */
static struct products outputs_of(const struct winograd *w, int i, int j)
{
    struct products m = {0};
    for (int t = 0; t < TAPS; t++) {
        int row = i - w->origin_h - t / 3, column = j - w->origin_w - t % 3;
        if (row < 0 || row >= w->out.h || column < 0 || column >= w->out.w)
            continue;
        m.tap[m.count] = t;
        m.position[m.count++] = (size_t)(row * w->out.w + column);
    }
    return m;
}

/* Computes `to` [n, block]: one position of a block of channels, for n images. Sums the products in
 * `m`: each multiplies a position of `from` by a tap of `panel`. from_pixels: number of positions
 * in `from`. */
static void multiply_position(const struct conv_call *call, real *to, const struct products *m,
                              const real *from, size_t from_pixels, const real *panel, int n, int k)
{
    size_t block = (size_t)call->w.block, plane = (size_t)n * block;
    const real *a[TAPS], *b[TAPS];
    for (int i = 0; i < m->count; i++) {
        a[i] = from + m->position[i] * plane;
        b[i] = panel + (size_t)m->tap[i] * winograd_spread(call->w.block, k);
    }
    call->product->rows(to, a, b, m->count, from_pixels * plane, n, k, RUN, false);
}

typedef struct products products_function(const struct winograd *w, int i, int j);

static void multiply_block(const struct conv_call *call, int thread, real *to, struct area to_area,
                           products_function *products_of, const real *from, struct area from_area,
                           const real *panel, int n, int k)
{
    size_t plane = (size_t)n * (size_t)call->w.block, polled = 0;
    for (int i = 0; i < to_area.h; i++) {
        for (int j = 0; j < to_area.w; j++, to += plane) {
            struct products m = products_of(&call->w, i, j);
            multiply_position(call, to, &m, from, area_pixels(from_area), panel, n, k);
            conv_poll(call, thread, &polled, 2 * plane * (size_t)(k * m.count));
        }
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
    for (int b = 0; b < w->out_blocks; b++) {
        multiply_block(call, thread, m, w->out, inputs_of, x, w->in, conv_panel(call, b, 0), n,
                       w->in_c);
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
    size_t plane = (size_t)n * (size_t)w->block;
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

static void multiply_weights(const struct conv_call *call, size_t begin, int thread, const real *x,
                             const real *dy, int n)
{
    const struct winograd *w = &call->w;
    bool add = conv_du_adds(call, begin, thread);
    size_t block = (size_t)w->block, polled = 0;
    size_t in = area_pixels(w->in) * (size_t)n * block,
           out = area_pixels(w->out) * (size_t)n * block;
    for (int b = 0; b < w->out_blocks; b++, dy += out) {
        real *dw = conv_du(call, thread, b);
        for (int t = 0; t < TAPS; t++, dw += winograd_spread(w->block, w->in_c)) {
            for (int a = 0; a < w->in_blocks; a++) {
                int left = w->in_c - a * w->block, channels = left < w->block ? left : w->block;
                multiply_tap(call, dw + (size_t)a * block * block, t, x + (size_t)a * in, dy,
                             channels, n, add);
                conv_poll(call, thread, &polled, 2 * out * (size_t)channels);
            }
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
    size_t of_m = (size_t)n * area_pixels(w->out) * (size_t)w->block, polled = 0;
    conv_output_adjoint_begin(call, begin, end, thread);
    for (int b = 0; b < w->out_blocks; b++) {
        conv_output_adjoint(call, begin, end, b, m + (size_t)b * of_m, thread);
        conv_poll(call, thread, &polled, FLOPS_PER_NUMBER * of_m);
    }
    call->tiles->input(w, n, x, NULL, conv_chunk_x(call, begin, end, thread));
    multiply_weights(call, begin, thread, x, m, n);
    if (call->c->dx == NULL)
        return;
    real *dx = conv_chunk_dx(call, begin, thread);
    for (int b = 0; b < w->in_blocks; b++) {
        multiply_block(call, thread, x, w->in, outputs_of, m, w->out,
                       conv_panel_transposed(call, b, 0), n, w->out_c);
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
    uint64_t products = 0;
    for (int i = 0; i < w.out.h; i++)
        for (int j = 0; j < w.out.w; j++)
            products += (uint64_t)inputs_of(&w, i, j).count;
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
    OP_KERNEL(name, in, out, match, .out_reals = out_reals_, .flops_forward = flops_forward,       \
              .flops_backward = flops_backward, .savings = savings)

KERNEL(direct, LAYOUT_BLOCKED, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(direct_last, LAYOUT_BLOCKED, LAYOUT_NCHW, conv3x3_match_last, NULL);
KERNEL(direct_first, LAYOUT_NCHW, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(direct_alone, LAYOUT_NCHW, LAYOUT_NCHW, conv3x3_match_last, NULL);
