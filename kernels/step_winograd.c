/* 3x3 convolution + bias [+ ReLU [+ 2x2 pooling]] by Winograd's algorithm; the parts are described
 * in winograd.h.
 *
 * Threads share the images, in chunks: a chunk's transforms (points * tiles * channels) stay in a
 * second-level cache, or close where there are many channels, while each block of weights passes
 * over them once. V of all images is kept from forward instead of x being transformed again. Each
 * thread sums the weights' gradient in its own dU; the last transform adds them in the order of the
 * threads. */
#include <string.h>

#include "kernels/layer_tables.h"
#include "kernels/winograd.h"

/* Tiles of a chunk at most: eight groups of twelve rows. */
#define CHUNK_TILES 96

/* Equal chunks of about CHUNK_TILES tiles. */
static int chunk_images(const struct winograd *w, int n)
{
    int most = CHUNK_TILES / winograd_tiles(w);
    if (most < 1)
        return 1;
    int chunks = (n + most - 1) / most;
    return (n + chunks - 1) / chunks;
}

static size_t padded(size_t reals)
{
    return real_bytes(reals) / sizeof(real);
}

/* What a thread needs besides the weights, in numbers: forward M of a block and, for the last step
 * of its kind, y; backward dM, dV of a block, dU and dbias, and dy. */
struct share {
    size_t m, v, du, dbias, y, all;
};

static struct share share_of(const struct winograd *w, int chunk, bool blocked)
{
    size_t images = (size_t)chunk;
    struct share s = {.m = padded(images * winograd_transformed(w, w->out_blocks)),
                      .v = padded(images * winograd_transformed(w, 1)),
                      .du = padded((size_t)w->out_blocks * winograd_panel(w, w->in_c)),
                      .dbias = padded((size_t)(w->out_blocks * w->block)),
                      .y = blocked ? 0 : padded(images * winograd_stored(w))};
    s.all = s.m + s.v + s.du + s.dbias + s.y;
    return s;
}

/* U or its transpose, whichever a pass needs, and the bias filled up to whole blocks. */
static size_t weights_reals(const struct winograd *w)
{
    size_t forward = (size_t)w->out_blocks * winograd_panel(w, w->in_c);
    size_t backward = (size_t)w->in_blocks * winograd_panel(w, w->out_c);
    return padded(forward > backward ? forward : backward);
}

struct winograd_call {
    const struct step_call *c;
    const struct shape *shape; /* of what is stored where the output is [N,C,H,W], else NULL */
    struct winograd w;
    const struct winograd_tiles *tiles;
    const struct winograd_weights *weights;
    const struct winograd_product *product;
    struct share share;
    real *v; /* of all images */
    uint8_t *from;
    real *u, *bias, *shares;
};

static struct winograd_call call_begin(const struct stretch *s, const struct step_call *c,
                                       bool blocked)
{
    struct winograd_call call = {.c = c,
                                 .shape = blocked ? NULL : &stretch_last(s)->out,
                                 .w = winograd_of(s),
                                 .tiles = winograd_tiles_for(s->isa),
                                 .weights = winograd_weights_for(s->isa),
                                 .product = winograd_product_for(s->isa),
                                 .v = c->saved,
                                 .u = c->scratch};
    const struct winograd *w = &call.w;
    size_t kept = (size_t)c->n * winograd_transformed(w, w->in_blocks);
    call.share = share_of(w, chunk_images(w, c->n), blocked);
    call.from = (uint8_t *)(call.v + kept);
    call.bias = call.u + weights_reals(w);
    call.shares = call.bias + call.share.dbias;
    return call;
}

static real *share_m(const struct winograd_call *call, int thread)
{
    return call->shares + (size_t)thread * call->share.all;
}

static real *share_v(const struct winograd_call *call, int thread)
{
    return share_m(call, thread) + call->share.m;
}

static real *share_du(const struct winograd_call *call, int thread)
{
    return share_v(call, thread) + call->share.v;
}

static real *share_dbias(const struct winograd_call *call, int thread)
{
    return share_du(call, thread) + call->share.du;
}

static real *share_y(const struct winograd_call *call, int thread)
{
    return share_dbias(call, thread) + call->share.dbias;
}

/* Only the calling thread polls, after every so much work. */
static void poll_after(const struct winograd_call *call, int thread, size_t *flops, size_t more)
{
    *flops += more;
    if (thread != 0 || *flops < FLOPS_PER_BLOCK / 4)
        return;
    *flops = 0;
    exec_poll(call->c->ex);
}

/* c, one block of columns <- a [a_blocks] * panel, all points. */
static void multiply_panel(const struct winograd_call *call, int thread, real *c, const real *a,
                           const real *panel, int rows, int k)
{
    const struct winograd *w = &call->w;
    size_t plane = (size_t)rows * (size_t)w->block, polled = 0;
    int points = winograd_points(w);
    for (int p = 0; p < points; p++) {
        call->product->rows(c + (size_t)p * plane, a + (size_t)p * plane, (size_t)points * plane,
                            panel + (size_t)p * (size_t)k * (size_t)w->block, rows, k);
        poll_after(call, thread, &polled, 2 * plane * (size_t)k);
    }
}

static void transform_weights(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct winograd_call *call = arg;
    size_t panel = winograd_panel(&call->w, call->w.in_c);
    for (size_t b = begin; b < end; b++)
        call->weights->transform(&call->w, (int)b, call->u + b * panel, call->c->params);
}

static void transform_weights_transposed(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct winograd_call *call = arg;
    size_t panel = winograd_panel(&call->w, call->w.out_c);
    for (size_t b = begin; b < end; b++)
        call->weights->transform_transposed(&call->w, (int)b, call->u + b * panel, call->c->params);
}

static void forward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct winograd_call *call = arg;
    const struct winograd *w = &call->w;
    int n = (int)(end - begin), rows = n * winograd_tiles(w);
    real *v = call->v + begin * winograd_transformed(w, w->in_blocks), *m = share_m(call, thread);
    real *y = call->shape ? share_y(call, thread) : call->c->y + begin * winograd_stored(w);
    uint8_t *from = call->from + begin * winograd_stored(w);
    call->tiles->input(w, n, v, call->c->x + begin * winograd_in(w));
    for (int b = 0; b < w->out_blocks; b++) {
        multiply_panel(call, thread, m, v, call->u + (size_t)b * winograd_panel(w, w->in_c), rows,
                       w->in_c);
        call->tiles->output(w, n, b, y, from, m, call->bias + b * w->block);
    }
    if (call->shape)
        blocks_to_planes(w, n, call->shape, call->c->y + begin * shape_count(*call->shape), y);
}

static void forward(const struct stretch *s, const struct step_call *c, bool blocked)
{
    struct winograd_call call = call_begin(s, c, blocked);
    const struct winograd *w = &call.w;
    const real *bias = c->params + TAPS * (size_t)w->in_c * (size_t)w->out_c;
    for (int i = 0; i < w->out_blocks * w->block; i++)
        call.bias[i] = i < w->out_c ? bias[i] : 0;
    exec_for(c->ex, (size_t)w->out_blocks, 1, transform_weights, &call);
    exec_for(c->ex, (size_t)c->n, (size_t)chunk_images(w, c->n), forward_chunk, &call);
}

/* dU of the thread += V'dM, or the first chunk of it. */
static void multiply_weights(const struct winograd_call *call, int thread, const real *v,
                             const real *dm, int rows, bool add)
{
    const struct winograd *w = &call->w;
    int points = winograd_points(w);
    size_t block = (size_t)w->block, plane = (size_t)rows * block, polled = 0;
    real *du = share_du(call, thread);
    for (int b = 0; b < w->out_blocks; b++) {
        for (int p = 0; p < points; p++, dm += plane) {
            for (int a = 0; a < w->in_blocks; a++) {
                int left = w->in_c - a * w->block, channels = left < w->block ? left : w->block;
                call->product->columns(du + (size_t)a * block * block,
                                       v + (size_t)(a * points + p) * plane, dm, channels, rows,
                                       add);
            }
            du += (size_t)w->in_c * block;
            poll_after(call, thread, &polled, 2 * plane * (size_t)w->in_c);
        }
    }
}

static void backward_input(const struct winograd_call *call, int thread, int n, real *dx,
                           const real *dm)
{
    const struct winograd *w = &call->w;
    real *dv = share_v(call, thread);
    memset(dx, 0, (size_t)n * winograd_in(w) * sizeof *dx);
    for (int b = 0; b < w->in_blocks; b++) {
        multiply_panel(call, thread, dv, dm, call->u + (size_t)b * winograd_panel(w, w->out_c),
                       n * winograd_tiles(w), w->out_c);
        call->tiles->input_adjoint(w, n, b, dx, dv);
    }
}

static void backward_chunk(void *arg, size_t begin, size_t end, int thread)
{
    const struct winograd_call *call = arg;
    const struct winograd *w = &call->w;
    size_t own_begin = 0, own_end = 0;
    pool_share((size_t)call->c->n, (size_t)thread, (size_t)pool_threads(call->c->ex->pool),
               &own_begin, &own_end);
    int n = (int)(end - begin);
    real *dm = share_m(call, thread), *dbias = share_dbias(call, thread);
    const real *dy = call->c->dy + begin * winograd_stored(w);
    if (call->shape) {
        planes_to_blocks(w, n, call->shape, share_y(call, thread),
                         call->c->dy + begin * shape_count(*call->shape));
        dy = share_y(call, thread);
    }
    if (begin == own_begin)
        memset(dbias, 0, call->share.dbias * sizeof *dbias);
    call->tiles->output_adjoint(w, n, dm, dbias, dy, call->from + begin * winograd_stored(w));
    multiply_weights(call, thread, call->v + begin * winograd_transformed(w, w->in_blocks), dm,
                     n * winograd_tiles(w), begin != own_begin);
    if (call->c->dx)
        backward_input(call, thread, n, call->c->dx + begin * winograd_in(w), dm);
}

/* Threads that had images. */
static int parts_of(const struct winograd_call *call)
{
    int threads = pool_threads(call->c->ex->pool);
    return threads < call->c->n ? threads : call->c->n;
}

static void finish_weights(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct winograd_call *call = arg;
    const struct winograd *w = &call->w;
    for (size_t b = begin; b < end; b++)
        call->weights->adjoint(w, (int)b, call->c->dparams,
                               share_du(call, 0) + b * winograd_panel(w, w->in_c), parts_of(call),
                               call->share.all, call->c->ex->accumulate);
}

static void finish_bias(const struct winograd_call *call)
{
    const struct winograd *w = &call->w;
    real *dbias = call->c->dparams + TAPS * (size_t)w->in_c * (size_t)w->out_c;
    for (int i = 0; i < w->out_c; i++) {
        real sum = call->c->ex->accumulate ? dbias[i] : 0;
        for (int t = 0; t < parts_of(call); t++)
            sum += share_dbias(call, t)[i];
        dbias[i] = sum;
    }
}

static void backward(const struct stretch *s, const struct step_call *c, bool blocked)
{
    struct winograd_call call = call_begin(s, c, blocked);
    const struct winograd *w = &call.w;
    if (c->dx)
        exec_for(c->ex, (size_t)w->in_blocks, 1, transform_weights_transposed, &call);
    exec_for(c->ex, (size_t)c->n, (size_t)chunk_images(w, c->n), backward_chunk, &call);
    exec_for(c->ex, (size_t)w->out_blocks, 1, finish_weights, &call);
    finish_bias(&call);
}

static size_t saved_bytes(const struct stretch *s, int n)
{
    struct winograd w = winograd_of(s);
    return (size_t)n * (winograd_transformed(&w, w.in_blocks) * sizeof(real) + winograd_stored(&w));
}

static size_t scratch_bytes_of(const struct stretch *s, int n, int threads, bool blocked)
{
    struct winograd w = winograd_of(s);
    int most = CHUNK_TILES / winograd_tiles(&w);
    struct share share = share_of(&w, most < 1 ? 1 : most < n ? most : n, blocked);
    return (weights_reals(&w) + share.dbias + (size_t)threads * share.all) * sizeof(real);
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

static size_t out_reals(const struct stretch *s, int n)
{
    struct winograd w = winograd_of(s);
    return (size_t)n * winograd_stored(&w);
}

static size_t scratch_bytes(const struct stretch *s, int n, int threads)
{
    return scratch_bytes_of(s, n, threads, true);
}

static size_t scratch_bytes_last(const struct stretch *s, int n, int threads)
{
    return scratch_bytes_of(s, n, threads, false);
}

static int match(const struct layer_desc *layers, int n, const struct extent *read)
{
    (void)read;
    enum epilogue epilogue;
    return conv3x3_match_followed(layers, n, &epilogue);
}

static int match_last(const struct layer_desc *layers, int n, const struct extent *read)
{
    (void)read;
    enum epilogue epilogue;
    return conv3x3_match(layers, n, &epilogue);
}

static void step_forward(const struct stretch *s, const struct step_call *c)
{
    forward(s, c, true);
}

static void step_forward_last(const struct stretch *s, const struct step_call *c)
{
    forward(s, c, false);
}

static void step_backward(const struct stretch *s, const struct step_call *c)
{
    backward(s, c, true);
}

static void step_backward_last(const struct stretch *s, const struct step_call *c)
{
    backward(s, c, false);
}

const struct step_kernel step_winograd = {
    .name = "winograd",
    .in = LAYOUT_BLOCKED,
    .out = LAYOUT_BLOCKED,
    .match = match,
    .out_reals = out_reals,
    .saved_bytes = saved_bytes,
    .scratch_bytes = scratch_bytes,
    .forward = step_forward,
    .backward = step_backward,
    .flops_forward = flops_forward,
    .flops_backward = flops_backward,
};

const struct step_kernel step_winograd_last = {
    .name = "winograd_last",
    .in = LAYOUT_BLOCKED,
    .out = LAYOUT_NCHW,
    .match = match_last,
    .saved_bytes = saved_bytes,
    .scratch_bytes = scratch_bytes_last,
    .forward = step_forward_last,
    .backward = step_backward_last,
    .flops_forward = flops_forward,
    .flops_backward = flops_backward,
};
