/* A dense layer in blocks of outputs and inputs.
 *     Y [N,O] = X [N,I] W' + b,   dX = dY W,   dW [O,I] = dY' X,   db = column sums of dY.
 * Operands are copied to blocks (see simd/winograd/winograd.h): X and dY before all products, each
 * slice of W just before its product. Threads share the blocks of the results. Nothing is summed
 * across threads. */
#include "kernels/layers/layer_tables.h"
#include "kernels/ops/op.h"
#include "kernels/simd/dense.h"
#include "kernels/simd/winograd/winograd.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_BF16(struct dense_functions, dense)
SIMD_DECLARE_TILES(struct winograd_product, winograd_product)

/* Bytes of the slice of W that is copied at a time. Together with rows of the other operand, it
 * fits into a first-level cache. */
enum { SLICE_BYTES = 16 << 10 };

struct dense_call {
    const struct op_call *c;
    const struct layer_desc *layer;
    const struct dense_functions *f;
    const struct winograd_product *product;
    int n, in, out, block;
    size_t plane; /* reals per block of X, dY or turned, for all images, padded to `depth` images */
    real *x, *dy; /* X and dY in blocks, as operands of products */
    real *turned; /* dY in blocks, as the left operand of dY' X; only for bf16 operands */
    real *shares; /* per thread: a slice of W and a block of results */
};

static size_t slice_reals(void)
{
    return SLICE_BYTES / sizeof(real);
}

/* Returns the size in reals of a thread's slice of W plus its block of results: n rows of Y or dX,
 * or `block` rows of dW. */
static size_t share_reals(int n, int block)
{
    return slice_reals() + (size_t)(n > block ? n : block) * (size_t)block;
}

static size_t plane_reals(const struct fused_layers *fused, int n)
{
    const struct dense_functions *f = dense_for(fused->isa);
    int depth = winograd_product_for(fused->isa)->depth;
    return (size_t)((n + depth - 1) / depth * depth / f->pair) * (size_t)f->block;
}

static struct dense_call call_begin(const struct fused_layers *fused, const struct op_call *c)
{
    const struct dense_functions *f = dense_for(fused->isa);
    struct dense_call call = {.c = c,
                              .layer = fused->layers,
                              .f = f,
                              .product = winograd_product_for(fused->isa),
                              .n = c->n,
                              .in = (int)shape_count(fused->layers->in),
                              .out = fused->layers->channels,
                              .block = f->block,
                              .plane = plane_reals(fused, c->n),
                              .x = c->scratch};
    call.dy = call.x + (size_t)blocks_of(call.in, call.block) * call.plane;
    call.turned = call.dy + (size_t)blocks_of(call.out, call.block) * call.plane;
    call.shares = call.turned + (size_t)blocks_of(call.out, call.block) * call.plane;
    return call;
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    return 0;
}

static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    const struct dense_functions *f = dense_for(fused->isa);
    int in = blocks_of((int)shape_count(fused->layers->in), f->block);
    int out = blocks_of(fused->layers->channels, f->block);
    return ((size_t)(in + 2 * out) * plane_reals(fused, n) +
            (size_t)threads * share_reals(n, f->block)) *
           sizeof(real);
}

static real *share_slice(const struct dense_call *call, int thread)
{
    return call->shares + (size_t)thread * share_reals(call->n, call->block);
}

static real *share_results(const struct dense_call *call, int thread)
{
    return share_slice(call, thread) + slice_reals();
}

/* Returns the number of columns in block b of a matrix with `all` columns. */
static int columns_of(const struct dense_call *call, size_t b, int all)
{
    int left = all - (int)b * call->block;
    return left < call->block ? left : call->block;
}

/* A sum of `all` terms is computed in slices. Returns the number of terms in the slice that begins
 * at term `first`. */
static int slice_of(const struct dense_call *call, int first, int all)
{
    int most = (int)slice_reals() / call->block * call->f->pair;
    return all - first < most ? all - first : most;
}

static void dense_poll(const struct dense_call *call, int thread, size_t *flops, int rows,
                       int columns)
{
    *flops += 2 * (size_t)call->block * (size_t)rows * (size_t)columns;
    if (thread != 0 || *flops < FLOPS_PER_BLOCK / 4)
        return;
    *flops = 0;
    exec_poll(call->c->ex);
}

/* ---- Operands ---- */

static size_t blocks_at_once(const struct dense_call *call)
{
    return images_per_block(ELEMENTS_PER_BLOCK, (size_t)call->n * (size_t)call->block);
}

/* Copies X to blocks [begin, end). */
static void load_x(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_call *call = arg;
    for (size_t b = begin; b < end; b++)
        call->f->rows(call->x + b * call->plane, call->c->x + b * (size_t)call->block,
                      (size_t)call->in, call->n, columns_of(call, b, call->in));
}

/* Copies X to blocks [begin, end). If operands are bf16, interleaves every two images. */
static void load_x_pairs(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_call *call = arg;
    load_x(arg, begin, end, thread);
    for (size_t b = begin; b < end && call->f->pair > 1; b++) {
        real *x = call->x + b * call->plane;
        call->product->pair(x, x, call->n);
    }
}

/* Copies dY to blocks [begin, end). If operands are bf16, also writes a copy to call->turned, in
 * the layout of `turn` (struct winograd_product). */
static void load_dy(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_call *call = arg;
    for (size_t b = begin; b < end; b++) {
        real *dy = call->dy + b * call->plane;
        call->f->rows(dy, call->c->dy + b * (size_t)call->block, (size_t)call->out, call->n,
                      columns_of(call, b, call->out));
        if (call->f->pair > 1)
            call->product->turn(call->turned + b * call->plane, dy, call->n);
    }
}

/* ---- Products ---- */

/* Computes Y for blocks [begin, end) of outputs. */
static void forward_blocks(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_call *call = arg;
    size_t in = (size_t)call->in, block = (size_t)call->block, polled = 0;
    const real *weights = call->c->params;
    const real *bias = added_bias(call->layer, weights, in * (size_t)call->out);
    real *slice = share_slice(call, thread), *y = share_results(call, thread);
    const real *right = slice;
    for (size_t b = begin; b < end; b++) {
        int columns = columns_of(call, b, call->out);
        for (int first = 0, count; first < call->in; first += count) {
            const real *left = call->x + (size_t)first / block * call->plane;
            count = slice_of(call, first, call->in);
            call->f->transposed(slice, weights + b * block * in + first, in, columns, count);
            call->product->rows(y, &left, &right, 1, call->plane, call->n, count, RUN, first > 0);
            dense_poll(call, thread, &polled, call->n, count);
        }
        call->f->store(call->c->y + b * block, (size_t)call->out, y, call->n, columns,
                       bias != NULL ? bias + b * block : NULL, false);
    }
}

/* Computes the bias gradient of one block of outputs: the sum of dY over the images, in image
 * order. Overwrites the gradient, or adds to it if ex->accumulate. */
static void add_dbias(const struct dense_call *call, size_t first, int columns)
{
    real *dbias = call->c->dparams + (size_t)call->in * (size_t)call->out + first;
    for (int o = 0; o < columns; o++)
        dbias[o] = call->c->ex->accumulate ? dbias[o] : 0;
    for (size_t i = 0; i < (size_t)call->n; i++)
        for (int o = 0; o < columns; o++)
            dbias[o] += call->c->dy[i * (size_t)call->out + first + (size_t)o];
}

/* Computes dW and db for blocks [begin, end) of outputs. */
static void backward_weights(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_call *call = arg;
    size_t in = (size_t)call->in, block = (size_t)call->block, polled = 0;
    real *dw = share_results(call, thread);
    for (size_t b = begin; b < end; b++) {
        const real *left = (call->f->pair > 1 ? call->turned : call->dy) + b * call->plane;
        int rows = columns_of(call, b, call->out);
        for (size_t a = 0; a < (size_t)blocks_of(call->in, call->block); a++) {
            const real *right = call->x + a * call->plane;
            call->product->columns(dw, &left, &right, 1, rows, call->n, false, right + call->plane);
            call->f->store(call->c->dparams + b * block * in + a * block, in, dw, rows,
                           columns_of(call, a, call->in), NULL, call->c->ex->accumulate);
            dense_poll(call, thread, &polled, rows, call->n);
        }
        if (!call->layer->without_bias)
            add_dbias(call, b * block, rows);
    }
}

/* Computes dX for blocks [begin, end) of input features (columns). */
static void backward_input(void *arg, size_t begin, size_t end, int thread)
{
    const struct dense_call *call = arg;
    size_t in = (size_t)call->in, block = (size_t)call->block, polled = 0;
    real *slice = share_slice(call, thread), *dx = share_results(call, thread);
    const real *right = slice;
    for (size_t b = begin; b < end; b++) {
        int columns = columns_of(call, b, call->in);
        for (int first = 0, count; first < call->out; first += count) {
            const real *left = call->dy + (size_t)first / block * call->plane;
            count = slice_of(call, first, call->out);
            call->f->rows(slice, call->c->params + (size_t)first * in + b * block, in, count,
                          columns);
            if (call->f->pair > 1)
                call->product->pair(slice, slice, count);
            call->product->rows(dx, &left, &right, 1, call->plane, call->n, count, RUN, first > 0);
            dense_poll(call, thread, &polled, call->n, count);
        }
        call->f->store(call->c->dx + b * block, in, dx, call->n, columns, NULL, false);
    }
}

static void forward(const struct fused_layers *fused, const struct op_call *c)
{
    struct dense_call call = call_begin(fused, c);
    exec_for(c->ex, (size_t)blocks_of(call.in, call.block), blocks_at_once(&call), load_x, &call);
    exec_for(c->ex, (size_t)blocks_of(call.out, call.block), 1, forward_blocks, &call);
}

static void backward(const struct fused_layers *fused, const struct op_call *c)
{
    struct dense_call call = call_begin(fused, c);
    size_t in = (size_t)blocks_of(call.in, call.block),
           out = (size_t)blocks_of(call.out, call.block);
    exec_for(c->ex, in, blocks_at_once(&call), load_x_pairs, &call);
    exec_for(c->ex, out, blocks_at_once(&call), load_dy, &call);
    exec_for(c->ex, out, 1, backward_weights, &call);
    if (c->dx != NULL)
        exec_for(c->ex, in, 1, backward_input, &call);
}

/* Matches dense layers with at least 32 outputs. A block has 32 columns (AVX-512, single
 * precision), and fewer outputs would leave some of them empty. */
static int match(const struct layer_desc *layers, int n, const struct extent *read)
{
    enum { LEAST = 32 };
    return layers->kind == LAYER_dense && layers->channels >= LEAST ? 1 : 0;
}

OP_KERNEL(dense, LAYOUT_NCHW, LAYOUT_NCHW, match, .takes_bf16 = true, .needs_wide = true);
