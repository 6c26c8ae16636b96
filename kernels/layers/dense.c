/* Fully connected layer as three matrix products over the batch:
 *     Y [N,O] = X [N,I] W' + b,   dX = dY W,   dW [O,I] = dY' X,   db = column sums of dY.
 * Each product is split into tiles of W so that communication can progress between them. Threads
 * divide Y and dX by images, and dW and db by rows. Nothing is summed across threads. */
#include <string.h>

#include "kernels/base/simd.h"
#include "kernels/gemm.h"
#include "kernels/layers/layer_tables.h"

struct dense_call {
    const struct layer_call *c;
    size_t images, in, out;
};

/* Size of a tile of the weight matrix: number of rows (outputs) and columns (inputs). */
struct tile {
    size_t out, in;
};

/* Returns the tile size. The weight matrix is halved along its longer side until the product of a
 * tile with `images` images takes at most FLOPS_PER_BLOCK. */
static struct tile tile_fitting(size_t out, size_t in, size_t images)
{
    struct tile t = {.out = out, .in = in};
    while (2 * images * t.out * t.in > FLOPS_PER_BLOCK && t.out * t.in > 1) {
        if (t.out > t.in)
            t.out = (t.out + 1) / 2;
        else
            t.in = (t.in + 1) / 2;
    }
    return t;
}

/* Processes images [begin, end) with one tile of W: `rows` rows from `row` on, and `columns`
 * columns from `column` on. */
typedef void tile_function(const struct dense_call *call, size_t begin, size_t end, size_t row,
                           size_t rows, size_t column, size_t columns);

static void for_tiles(const struct dense_call *call, int thread, struct tile t, size_t row_begin,
                      size_t row_end, size_t begin, size_t end, tile_function *f)
{
    for (size_t row = row_begin; row < row_end; row += t.out) {
        size_t rows = row_end - row < t.out ? row_end - row : t.out;
        for (size_t column = 0; column < call->in; column += t.in) {
            size_t columns = call->in - column < t.in ? call->in - column : t.in;
            f(call, begin, end, row, rows, column, columns);
            if (thread == 0)
                exec_poll(call->c->ex);
        }
    }
}

/* y += x W' for images [begin, end) and one tile of W. W' is W transposed. */
static void forward_tile(const struct dense_call *call, size_t begin, size_t end, size_t row,
                         size_t rows, size_t column, size_t columns)
{
    struct gemm_operand x = {.data = call->c->x + begin * call->in + column, .ld = call->in};
    struct gemm_operand w = {
        .data = call->c->params + row * call->in + column, .ld = call->in, .transposed = true};
    gemm(end - begin, rows, columns, call->c->y + begin * call->out + row, call->out, x, w, true);
}

static void forward_share(void *arg, int thread, int threads)
{
    const struct dense_call *call = arg;
    const real *bias = added_bias(call->c->layer, call->c->params, call->out * call->in);
    size_t begin = 0, end = 0;
    pool_share(call->images, (size_t)thread, (size_t)threads, &begin, &end);
    if (begin == end)
        return;
    for (size_t i = begin; i < end; i++)
        begin_outputs(call->c->y + i * call->out, call->c->layer, bias);
    struct tile t = tile_fitting(call->out, call->in, end - begin);
    for_tiles(call, thread, t, 0, call->out, begin, end, forward_tile);
}

/* Adds one tile's contribution to dx of images [begin, end). The first row of tiles overwrites dx
 * instead. */
static void backward_input_tile(const struct dense_call *call, size_t begin, size_t end, size_t row,
                                size_t rows, size_t column, size_t columns)
{
    struct gemm_operand dy = {.data = call->c->dy + begin * call->out + row, .ld = call->out};
    struct gemm_operand w = {.data = call->c->params + row * call->in + column, .ld = call->in};
    gemm(end - begin, columns, rows, call->c->dx + begin * call->in + column, call->in, dy, w,
         row > 0);
}

static void backward_input_share(void *arg, int thread, int threads)
{
    const struct dense_call *call = arg;
    size_t begin = 0, end = 0;
    pool_share(call->images, (size_t)thread, (size_t)threads, &begin, &end);
    if (begin == end)
        return;
    struct tile t = tile_fitting(call->out, call->in, end - begin);
    for_tiles(call, thread, t, 0, call->out, begin, end, backward_input_tile);
}

static void backward_params_tile(const struct dense_call *call, size_t begin, size_t end,
                                 size_t row, size_t rows, size_t column, size_t columns)
{
    struct gemm_operand dy = {
        .data = call->c->dy + begin * call->out + row, .ld = call->out, .transposed = true};
    struct gemm_operand x = {.data = call->c->x + begin * call->in + column, .ld = call->in};
    gemm(rows, columns, end - begin, call->c->dparams + row * call->in + column, call->in, dy, x,
         call->c->ex->accumulate);
}

SIMD_CLONES static void backward_bias(const struct dense_call *call, size_t begin, size_t end)
{
    real *restrict dbias = call->c->dparams + call->out * call->in;
    for (size_t o = begin; o < end; o++)
        dbias[o] = call->c->ex->accumulate ? dbias[o] : 0;
    for (size_t i = 0; i < call->images; i++) {
        const real *restrict dy = call->c->dy + i * call->out;
        for (size_t o = begin; o < end; o++)
            dbias[o] += dy[o];
    }
}

static void backward_params_share(void *arg, int thread, int threads)
{
    const struct dense_call *call = arg;
    size_t begin = 0, end = 0;
    pool_share(call->out, (size_t)thread, (size_t)threads, &begin, &end);
    if (begin == end)
        return;
    struct tile t = tile_fitting(end - begin, call->in, call->images);
    for_tiles(call, thread, t, begin, end, 0, call->images, backward_params_tile);
    if (!call->c->layer->without_bias)
        backward_bias(call, begin, end);
}

static struct dense_call call_begin(const struct layer_call *c)
{
    return (struct dense_call){.c = c,
                               .images = (size_t)c->n,
                               .in = shape_count(c->layer->in),
                               .out = (size_t)c->layer->channels};
}

static void dense_forward(const struct layer_call *c)
{
    struct dense_call call = call_begin(c);
    pool_run(c->ex->pool, forward_share, &call);
}

static void dense_backward(const struct layer_call *c)
{
    struct dense_call call = call_begin(c);
    pool_run(c->ex->pool, backward_params_share, &call);
    if (c->dx != NULL)
        pool_run(c->ex->pool, backward_input_share, &call);
}

const struct layer_kernel layer_dense = {
    .reference = &layer_dense_ref,
    .forward = dense_forward,
    .backward = dense_backward,
};
