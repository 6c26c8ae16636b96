#include "kernels/ops/conv_blocks.h"

#include <string.h>

/* Returns the number of stored outputs per image and block of channels. */
static size_t stored_block(const struct winograd *w)
{
    return winograd_stored(w) / (size_t)w->out_blocks;
}

/* Returns the size in reals of the memory for panels of weights: `blocks` panels with k rows each,
 * or only one slice of a panel if weights are sliced. */
static size_t panels_reals(const struct winograd *w, struct conv_sizes sizes, int blocks, int k)
{
    if (sizes.slice == 0)
        return aligned_reals((size_t)blocks * winograd_panel(w, k));
    return aligned_reals(winograd_panel(w, sizes.slice < k ? sizes.slice : k));
}

static struct conv_share share_of(const struct fused_layers *fused, const struct winograd *w,
                                  struct conv_sizes sizes)
{
    size_t x = fused->in == LAYOUT_NCHW ? sizes.chunk * winograd_in(w) : 0;
    size_t y = w->norm                     ? stored_block(w)
               : fused->out == LAYOUT_NCHW ? sizes.chunk * winograd_stored(w)
                                           : 0;
    /* Size in reals of the marks of outputs whose inputs are all zero: one real per tile, although
     * the tile's marks have only 16 bits. */
    size_t blank = w->kind == WINOGRAD_F4 ? sizes.chunk * (size_t)winograd_tiles(w) : 0;
    struct conv_share share = {.m = aligned_reals(sizes.m),
                               .v = aligned_reals(sizes.v),
                               .du = panels_reals(w, sizes, w->out_blocks, w->in_c),
                               .dbias = aligned_reals((size_t)(w->out_blocks * w->block)),
                               .x = aligned_reals(x),
                               .y = aligned_reals(y),
                               .blank = aligned_reals(blank)};
    share.all = share.m + share.v + share.du + share.dbias + share.x + share.y + share.blank;
    return share;
}

/* Returns the size (reals) of the weight panels of forward or of the transposed panels of backward,
 * whichever is larger. */
static size_t weights_reals(const struct winograd *w, struct conv_sizes sizes)
{
    size_t forward = panels_reals(w, sizes, w->out_blocks, w->in_c);
    size_t backward = panels_reals(w, sizes, w->in_blocks, w->out_c);
    return forward > backward ? forward : backward;
}

/* Returns the number of parameters of the convolution. The parameters of batch norm are stored
 * after them. */
static size_t conv_params(const struct fused_layers *fused, const struct winograd *w)
{
    return TAPS * (size_t)w->in_c * (size_t)w->out_c + bias_count(fused->layers);
}

/* Divides c->scratch and c->saved into arrays. c->scratch: scratch memory of batch norm, panels of
 * weights, the bias, then the arrays of struct conv_share for each thread. c->saved begins with V,
 * the transformed inputs of all images (Winograd only). With batch norm, its input and its saved
 * data follow. Without batch norm, one byte per stored output follows: the output's origin in the
 * pooling window. */
struct conv_call conv_call_begin(const struct fused_layers *fused, const struct op_call *c,
                                 const struct winograd *w, struct conv_sizes sizes)
{
    enum isa isa = conv3x3_isa(fused, w->kind);
    struct conv_call call = {.fused = fused,
                             .c = c,
                             .w = *w,
                             .tiles = w->kind == CONV_DIRECT ? direct_tiles_for(isa)
                                                             : winograd_tiles_for(isa),
                             .weights = winograd_weights_for(isa),
                             .product = winograd_product_for(isa),
                             .blocks = blocks_for(fused->isa),
                             .sizes = sizes,
                             .share = share_of(fused, w, sizes),
                             .kept = c->saved,
                             .u = c->scratch};
    real *after_kept = call.kept + aligned_reals(sizes.kept);
    call.from = (uint8_t *)after_kept;
    if (w->norm) {
        real *after_z = after_kept + aligned_reals((size_t)c->n * winograd_stored_room(w));
        int threads = pool_threads(c->ex->pool);
        call.z = after_kept;
        call.norm = norm_call_begin(fused, 1, c, call.z, c->params + conv_params(fused, w), after_z,
                                    c->scratch);
        call.u = (real *)((char *)c->scratch + norm_scratch_bytes(fused, 1, threads));
    }
    call.bias = call.u + weights_reals(w, sizes);
    call.shares = call.bias + call.share.dbias;
    return call;
}

size_t conv_saved_bytes(const struct fused_layers *fused, const struct winograd *w,
                        struct conv_sizes sizes, int n)
{
    size_t kept = aligned_reals(sizes.kept) * sizeof(real), images = (size_t)n;
    return kept + (w->norm ? aligned_reals(images * winograd_stored_room(w)) * sizeof(real) +
                                 norm_saved_bytes(fused, 1, n)
                           : images * winograd_stored(w));
}

size_t conv_scratch_bytes(const struct fused_layers *fused, const struct winograd *w,
                          struct conv_sizes sizes, int threads)
{
    struct conv_share share = share_of(fused, w, sizes);
    size_t reals = weights_reals(w, sizes) + share.dbias + (size_t)threads * share.all;
    return reals * sizeof(real) + (w->norm ? norm_scratch_bytes(fused, 1, threads) : 0);
}

size_t conv_out_reals(const struct fused_layers *fused, int n)
{
    struct winograd w = winograd_of(fused);
    return w.norm ? norm_out_reals(fused, 1, n) : (size_t)n * winograd_stored(&w);
}

/* Transforms the weights of blocks [begin, end) of output channels. */
static void transform_weights(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    size_t panel = winograd_panel(&call->w, call->w.in_c);
    for (size_t b = begin; b < end; b++)
        call->weights->transform(&call->w, (int)b, 0, call->w.in_c, call->u + b * panel,
                                 call->c->params);
}

/* Transforms the weights of blocks [begin, end) of input channels. */
static void transform_weights_transposed(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    size_t panel = winograd_panel(&call->w, call->w.out_c);
    for (size_t b = begin; b < end; b++)
        call->weights->transform_transposed(&call->w, (int)b, 0, call->w.out_c, call->u + b * panel,
                                            call->c->params);
}

const real *conv_panel(const struct conv_call *call, int at, int first)
{
    int k = call->w.in_c;
    if (call->sizes.slice == 0)
        return call->u + (size_t)at * winograd_panel(&call->w, k);
    call->weights->transform(&call->w, at, first, conv_slice(call, first, k), call->u,
                             call->c->params);
    return call->u;
}

const real *conv_panel_transposed(const struct conv_call *call, int at, int first)
{
    int k = call->w.out_c;
    if (call->sizes.slice == 0)
        return call->u + (size_t)at * winograd_panel(&call->w, k);
    call->weights->transform_transposed(&call->w, at, first, conv_slice(call, first, k), call->u,
                                        call->c->params);
    return call->u;
}

/* Returns whether the chunk that begins at image `begin` adds its gradients to the thread's sums.
 * Only the thread's first chunk overwrites the sums. */
static bool chunk_adds(const struct conv_call *call, size_t begin, int thread)
{
    size_t own_begin = 0, own_end = 0;
    pool_share((size_t)call->c->n, (size_t)thread, (size_t)pool_threads(call->c->ex->pool),
               &own_begin, &own_end);
    return begin != own_begin;
}

real *conv_du(const struct conv_call *call, int thread, int at)
{
    size_t panel = call->sizes.slice > 0 ? 0 : winograd_panel(&call->w, call->w.in_c);
    return share_du(call, thread) + (size_t)at * panel;
}

void conv_du_end(const struct conv_call *call, size_t begin, int at, int first)
{
    if (call->sizes.slice > 0)
        call->weights->adjoint(&call->w, at, first, conv_slice(call, first, call->w.in_c),
                               call->c->dparams, share_du(call, 0), 1, 0,
                               call->c->ex->accumulate || chunk_adds(call, begin, 0));
}

bool conv_du_adds(const struct conv_call *call, size_t begin, int thread)
{
    return call->sizes.slice == 0 && chunk_adds(call, begin, thread);
}

void conv_forward(struct conv_call *call, block_function *chunk)
{
    const struct winograd *w = &call->w;
    const struct exec *ex = call->c->ex;
    const real *bias =
        added_bias(call->fused->layers, call->c->params, TAPS * (size_t)w->in_c * (size_t)w->out_c);
    for (int i = 0; i < w->out_blocks * w->block; i++)
        call->bias[i] = bias != NULL && i < w->out_c ? bias[i] : 0;
    if (call->sizes.slice == 0)
        exec_for(ex, (size_t)w->out_blocks, 1, transform_weights, call);
    if (w->norm && norm_wants_sums(&call->norm))
        norm_sums_begin(&call->norm);
    exec_for(ex, (size_t)call->c->n, call->sizes.chunk, chunk, call);
    if (w->norm)
        norm_forward(&call->norm);
}

/* Returns the number of threads that processed images. */
static int parts_of(const struct conv_call *call)
{
    int threads = pool_threads(call->c->ex->pool);
    return threads < call->c->n ? threads : call->c->n;
}

static void finish_weights(void *arg, size_t begin, size_t end, int thread)
{
    const struct conv_call *call = arg;
    const struct winograd *w = &call->w;
    for (size_t b = begin; b < end; b++)
        call->weights->adjoint(w, (int)b, 0, w->in_c, call->c->dparams,
                               share_du(call, 0) + b * winograd_panel(w, w->in_c), parts_of(call),
                               call->share.all, call->c->ex->accumulate);
}

static void finish_bias(const struct conv_call *call)
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

void conv_backward(struct conv_call *call, block_function *chunk)
{
    const struct winograd *w = &call->w;
    const struct exec *ex = call->c->ex;
    if (w->norm)
        norm_backward(&call->norm, call->c->dparams + conv_params(call->fused, w), true);
    if (call->c->dx != NULL && call->sizes.slice == 0)
        exec_for(ex, (size_t)w->in_blocks, 1, transform_weights_transposed, call);
    exec_for(ex, (size_t)call->c->n, call->sizes.chunk, chunk, call);
    if (call->sizes.slice == 0)
        exec_for(ex, (size_t)w->out_blocks, 1, finish_weights, call);
    if (!call->fused->layers->without_bias)
        finish_bias(call);
}

static struct planes planes_of(struct area area, struct shape shape)
{
    return (struct planes){.area = area,
                           .channels = shape.c,
                           .row = (size_t)shape.w,
                           .plane = (size_t)shape.h * (size_t)shape.w};
}

/* Copies images [begin, end) of an activation, or of its gradient, [N, shape] to blocks of
 * channels. */
static void read_planes(const struct conv_call *call, real *blocks, const real *value,
                        struct area area, const struct shape *shape, size_t begin, size_t end,
                        size_t blocked)
{
    struct planes p = planes_of(area, *shape);
    for (size_t i = begin; i < end; i++, blocks += blocked)
        call->blocks->to_blocks(&p, blocks, value + i * shape_count(*shape));
}

/* Copies blocks of channels to images [begin, end) of an activation or gradient [N, shape]. Always
 * clears numbers outside the stored area, although only gradients must be 0 there (activations
 * there are never read). */
static void write_planes(const struct conv_call *call, real *value, const real *blocks,
                         struct area area, const struct shape *shape, size_t begin, size_t end,
                         size_t blocked)
{
    struct planes p = planes_of(area, *shape);
    size_t image = shape_count(*shape);
    if (area.h < shape->h || area.w < shape->w)
        memset(value + begin * image, 0, (end - begin) * image * sizeof *value);
    for (size_t i = begin; i < end; i++, blocks += blocked)
        call->blocks->to_planes(&p, value + i * image, blocks);
}

const real *conv_chunk_x(const struct conv_call *call, size_t begin, size_t end, int thread)
{
    const struct winograd *w = &call->w;
    if (call->fused->in != LAYOUT_NCHW)
        return call->c->x + begin * winograd_in_room(w);
    read_planes(call, share_x(call, thread), call->c->x, w->in, &call->fused->layers->in, begin,
                end, winograd_in(w));
    return share_x(call, thread);
}

real *conv_chunk_y(const struct conv_call *call, size_t begin, int thread)
{
    if (call->w.norm)
        return call->z + begin * winograd_stored_room(&call->w);
    if (call->fused->out == LAYOUT_NCHW)
        return share_y(call, thread);
    return call->c->y + begin * winograd_stored_room(&call->w);
}

void conv_chunk_y_end(const struct conv_call *call, size_t begin, size_t end, const real *y)
{
    const struct winograd *w = &call->w;
    if (call->fused->out == LAYOUT_NCHW && !w->norm)
        write_planes(call, call->c->y, y, w->stored, &fused_last(call->fused)->out, begin, end,
                     winograd_stored(w));
}

void conv_output(const struct conv_call *call, size_t begin, size_t end, int b, real *y,
                 const real *m, int thread)
{
    const struct winograd *w = &call->w;
    call->tiles->output(w, (int)(end - begin), b, y, call->from + begin * winograd_stored(w), m,
                        call->bias + b * w->block, share_blank(call, thread));
    if (!w->norm || !norm_wants_sums(&call->norm))
        return;
    for (size_t i = begin; i < end; i++)
        norm_add_inputs(&call->norm, i, (size_t)b, thread);
}

/* Returns dy of block b of channels for one image. `begin`: first image of the chunk. With batch
 * norm, computes dy in the scratch of the thread, which the next call overwrites. */
static const real *block_of_dy(const struct conv_call *call, size_t begin, size_t image, int b,
                               int thread)
{
    const struct winograd *w = &call->w;
    size_t at = (size_t)b * stored_block(w);
    real *share = share_y(call, thread);
    if (w->norm) {
        norm_differentiate(&call->norm, share, image, (size_t)b, thread);
        return share;
    }
    if (call->fused->out == LAYOUT_NCHW)
        return share + (image - begin) * winograd_stored(w) + at;
    return call->c->dy + image * winograd_stored(w) + at;
}

void conv_output_adjoint_begin(const struct conv_call *call, size_t begin, size_t end, int thread)
{
    const struct winograd *w = &call->w;
    if (!chunk_adds(call, begin, thread))
        memset(share_dbias(call, thread), 0, call->share.dbias * sizeof(real));
    if (call->fused->out == LAYOUT_NCHW && !w->norm)
        read_planes(call, share_y(call, thread), call->c->dy, w->stored,
                    &fused_last(call->fused)->out, begin, end, winograd_stored(w));
}

void conv_output_adjoint(const struct conv_call *call, size_t begin, size_t end, int b, real *dm,
                         int thread)
{
    const struct winograd *w = &call->w;
    for (size_t i = begin; i < end; i++)
        call->tiles->output_adjoint(
            w, (int)(end - begin), (int)(i - begin), dm, share_dbias(call, thread) + b * w->block,
            block_of_dy(call, begin, i, b, thread),
            call->from + i * winograd_stored(w) + (size_t)b * stored_block(w));
}

real *conv_chunk_dx(const struct conv_call *call, size_t begin, int thread)
{
    if (call->fused->in == LAYOUT_NCHW)
        return share_x(call, thread);
    return call->c->dx + begin * winograd_in(&call->w);
}

void conv_chunk_dx_end(const struct conv_call *call, size_t begin, size_t end, const real *dx)
{
    const struct winograd *w = &call->w;
    if (call->fused->in == LAYOUT_NCHW)
        write_planes(call, call->c->dx, dx, w->in, &call->fused->layers->in, begin, end,
                     winograd_in(w));
}
