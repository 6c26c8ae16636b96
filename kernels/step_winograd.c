/* 3x3 convolution + bias [+ batch norm] [+ ReLU [+ 2x2 pooling]] by Winograd's algorithm; the parts
 * are described in simd/winograd.h.
 *
 * A chunk's transforms (points * tiles * channels) stay in a second-level cache, or close where
 * there are many channels, while each block of weights passes over them once. V of all images is
 * kept from forward instead of x being transformed again. */
#include <string.h>

#include "kernels/conv_blocks.h"

/* Tiles of a chunk at most: eight groups of twelve rows. */
#define CHUNK_TILES 96

/* Equal chunks of about CHUNK_TILES tiles. */
static size_t chunk_images(const struct winograd *w, int n)
{
    int most = CHUNK_TILES / winograd_tiles(w);
    if (most < 1)
        return 1;
    int chunks = (n + most - 1) / most;
    return (size_t)((n + chunks - 1) / chunks);
}

static struct conv_sizes sizes_of(const struct winograd *w, int n, size_t chunk, int threads)
{
    return (struct conv_sizes){.chunk = chunk,
                               .m = chunk * winograd_transformed(w, w->out_blocks),
                               .v = chunk * winograd_transformed(w, 1),
                               .kept = (size_t)n * winograd_transformed(w, w->in_blocks),
                               .single = threads == 1 && chunk == (size_t)n};
}

static struct conv_call call_begin(const struct stretch *s, const struct step_call *c)
{
    struct winograd w = winograd_of(s);
    return conv_call_begin(s, c, &w,
                           sizes_of(&w, c->n, chunk_images(&w, c->n), pool_threads(c->ex->pool)));
}

/* c, one block of columns <- a, all blocks, times a panel; all points. */
static void multiply_panel(const struct conv_call *call, int thread, real *c, const real *a,
                           const real *panel, int rows, int k)
{
    const struct winograd *w = &call->w;
    int points = winograd_points(w);
    size_t plane = (size_t)rows * (size_t)w->block, polled = 0;
    for (int p = 0; p < points; p++, a += plane, c += plane) {
        call->product->rows(c, &a, &panel, 1, (size_t)points * plane, rows, k);
        panel += (size_t)k * (size_t)w->block;
        conv_poll(call, thread, &polled, 2 * plane * (size_t)k);
    }
}

static void forward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    const struct winograd *w = &call->w;
    int n = (int)(end - begin), rows = n * winograd_tiles(w);
    real *v = call->kept + begin * winograd_transformed(w, w->in_blocks);
    real *m = share_m(call, thread), *y = conv_chunk_y(call, begin, thread);
    call->tiles->input(w, n, v, conv_chunk_x(call, begin, end, thread));
    for (int b = 0; b < w->out_blocks; b++) {
        multiply_panel(call, thread, m, v, conv_panel(call, b), rows, w->in_c);
        conv_output(call, begin, end, b, y, m, thread);
    }
    conv_chunk_y_end(call, begin, end, y);
}

/* dU of the thread <- V'dM, or += it. */
static void multiply_weights(const struct conv_call *call, int thread, const real *v,
                             const real *dm, int rows, bool add)
{
    const struct winograd *w = &call->w;
    int points = winograd_points(w);
    size_t block = (size_t)w->block, plane = (size_t)rows * block, polled = 0;
    for (int b = 0; b < w->out_blocks; b++) {
        real *du = conv_du(call, thread, b);
        for (int p = 0; p < points; p++, dm += plane) {
            for (int a = 0; a < w->in_blocks; a++) {
                int left = w->in_c - a * w->block, channels = left < w->block ? left : w->block;
                const real *columns = v + (size_t)(a * points + p) * plane;
                call->product->columns(du + (size_t)a * block * block, &columns, &dm, 1, channels,
                                       rows, add);
            }
            du += (size_t)w->in_c * block;
            conv_poll(call, thread, &polled, 2 * plane * (size_t)w->in_c);
        }
        conv_du_end(call, b);
    }
}

static void backward_input(const struct conv_call *call, int thread, int n, real *dx,
                           const real *dm)
{
    const struct winograd *w = &call->w;
    real *dv = share_v(call, thread);
    memset(dx, 0, (size_t)n * winograd_in(w) * sizeof *dx);
    for (int b = 0; b < w->in_blocks; b++) {
        multiply_panel(call, thread, dv, dm, conv_panel_transposed(call, b), n * winograd_tiles(w),
                       w->out_c);
        call->tiles->input_adjoint(w, n, b, dx, dv);
    }
}

static void backward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    const struct winograd *w = &call->w;
    int n = (int)(end - begin);
    real *dm = share_m(call, thread);
    conv_output_adjoint(call, begin, end, dm, thread);
    multiply_weights(call, thread, call->kept + begin * winograd_transformed(w, w->in_blocks), dm,
                     n * winograd_tiles(w), conv_chunk_adds(call, begin, thread));
    if (!call->c->dx)
        return;
    real *dx = conv_chunk_dx(call, begin, thread);
    backward_input(call, thread, n, dx, dm);
    conv_chunk_dx_end(call, begin, end, dx);
}

static size_t saved_bytes(const struct stretch *s, int n)
{
    struct winograd w = winograd_of(s);
    return conv_saved_bytes(s, &w, sizes_of(&w, n, 1, 1), n);
}

/* A smaller batch may be cut into larger chunks, up to the limit. */
static size_t scratch_bytes(const struct stretch *s, int n, int threads)
{
    struct winograd w = winograd_of(s);
    int most = CHUNK_TILES / winograd_tiles(&w);
    size_t chunk = (size_t)(most < 1 ? 1 : most < n ? most : n);
    return conv_scratch_bytes(s, &w, sizes_of(&w, n, chunk, threads), threads);
}

/* The products alone; transforms add and scale, which FLOPs of a net leave out as they do bias. */
static uint64_t flops_forward(const struct stretch *s)
{
    struct winograd w = winograd_of(s);
    uint64_t products = (uint64_t)(winograd_points(&w) * winograd_tiles(&w));
    return 2 * products * (uint64_t)w.in_c * (uint64_t)w.out_c;
}

static uint64_t flops_backward(const struct stretch *s)
{
    return (s->wants_input ? 2 : 1) * flops_forward(s);
}

static unsigned savings(const struct stretch *s)
{
    struct winograd w = winograd_of(s);
    return SAVING_BIT(SAVING_winograd) | saving_of_dead_outputs(s, w.out.h, w.out.w);
}

static void forward(const struct stretch *s, const struct step_call *c)
{
    struct conv_call call = call_begin(s, c);
    conv_forward(&call, forward_chunk);
}

static void backward(const struct stretch *s, const struct step_call *c)
{
    struct conv_call call = call_begin(s, c);
    conv_backward(&call, backward_chunk);
}

/* One kind of step for each pair of neighbours. */
#define KERNEL(name_, in_, out_, match_, out_reals_)                                               \
    const struct step_kernel step_##name_ = {                                                      \
        .name = #name_,                                                                            \
        .in = in_,                                                                                 \
        .out = out_,                                                                               \
        .match = match_,                                                                           \
        .out_reals = out_reals_,                                                                   \
        .saved_bytes = saved_bytes,                                                                \
        .scratch_bytes = scratch_bytes,                                                            \
        .forward = forward,                                                                        \
        .backward = backward,                                                                      \
        .flops_forward = flops_forward,                                                            \
        .flops_backward = flops_backward,                                                          \
        .savings = savings,                                                                        \
    }

KERNEL(winograd, LAYOUT_BLOCKED, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(winograd_last, LAYOUT_BLOCKED, LAYOUT_NCHW, conv3x3_match_last, NULL);
KERNEL(winograd_first, LAYOUT_NCHW, LAYOUT_BLOCKED, conv3x3_match_blocks, conv_out_reals);
KERNEL(winograd_alone, LAYOUT_NCHW, LAYOUT_NCHW, conv3x3_match_last, NULL);
