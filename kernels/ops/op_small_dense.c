/* A small dense layer [+ ReLU] [+ dropout]. The input often comes from ReLU and dropout too. More
 * than half of the inputs and of the output gradients are then exact zeros. In lenet_21k's first
 * dense layer about 100 of 320 inputs are nonzero. All three products therefore only add rows whose
 * factor is not zero, in registers:
 *
 *     y = b + sum x_i W'_i,   dx = sum dy_o W_o,   dW_o = sum over images of dy_o x.
 *
 * The two dense layers of lenet_21k take 0.09 ms per step of 128 images. Products by BLIS took
 * 0.2 ms. Speed depends on the data.
 *
 * Threads share the images of y and dx, and the rows of dW. Nothing is summed across threads. */
#include <string.h>

#include "kernels/layers/dropout_mask.h"
#include "kernels/ops/op.h"
#include "kernels/simd/small_dense.h"
#include "kernels/simd_tables.h"

/* Largest number of weights. Several copies of them fit into a second-level cache. */
#define WEIGHTS_MAX 65536
#define INPUTS_MAX  4096
#define OUTPUTS_MAX 1024
/* Number of images per group. A tile of a group consists of SMALL_DENSE_TILE inputs of each image,
 * and fits into the first-level cache. */
#define GROUP 128

SIMD_DECLARE(struct small_dense_functions, small_dense)

static size_t pad(size_t n)
{
    return (n + SMALL_DENSE_PAD - 1) / SMALL_DENSE_PAD * SMALL_DENSE_PAD;
}

static size_t inputs_of(const struct fused_layers *fused)
{
    return shape_count(fused->layers->in);
}

static size_t outputs_of(const struct fused_layers *fused)
{
    return (size_t)fused->layers->channels;
}

/* Matches dense, then optional ReLU, then optional dropout. A layer whose outputs are partial sums
 * (layer_desc.addend) matches alone, because ReLU must follow the sum. */
static int match(const struct layer_desc *layers, int n, const struct extent *read)
{
    size_t inputs = shape_count(layers->in);
    if (layers->kind != LAYER_dense || inputs > INPUTS_MAX || layers->channels > OUTPUTS_MAX ||
        inputs * (size_t)layers->channels > WEIGHTS_MAX)
        return 0;
    if (layers->addend)
        return 1;
    int taken = 1;
    taken += taken < n && layers[taken].kind == LAYER_relu;
    taken += taken < n && layers[taken].kind == LAYER_dropout;
    return taken;
}

struct small_dense_call {
    const struct op_call *op;
    const struct small_dense_functions *f;
    enum isa isa;
    const struct layer_desc *dense, *dropout; /* dense layer; dropout layer after it, NULL: none */
    bool relu;
    size_t in, out;
    real scale;    /* factor that dropout applies to the outputs it keeps */
    uint8_t *keep; /* [N,out], 1 if dropout keeps the output */
    /* Weights in rows padded to a multiple of 64 bytes: [in][out, padded] in forward, [out][in,
     * padded] in backward. */
    real *transposed;
    const real *weights;
    real *dz;               /* [out][N, padded]: gradient of the dense layer's output */
    struct small_list list; /* thread 0's arrays, in scratch; the arrays of thread t begin t *
                               list_size entries later */
    size_t list_size;
};

static size_t place_scratch(struct small_dense_call *call, size_t n, int threads, void *scratch)
{
    size_t most = call->in > call->out ? call->in : call->out;
    size_t weights = pad(call->out) * pad(call->in), dz = call->out * pad(n);
    call->list_size = pad(most > GROUP ? most : GROUP) + SMALL_DENSE_PAD;
    size_t lists = call->list_size * (size_t)threads;
    if (scratch != NULL) {
        call->transposed = scratch;
        call->dz = call->transposed + weights;
        call->list.values = call->dz + dz;
        call->list.rows = (uint32_t *)(call->list.values + lists);
    }
    return (weights + dz + lists) * sizeof(real) + lists * sizeof(uint32_t);
}

static struct small_dense_call call_of(const struct fused_layers *fused, const struct op_call *op)
{
    struct small_dense_call call = {
        .op = op,
        .f = small_dense_for(fused->isa),
        .isa = fused->isa,
        .dense = fused->layers,
        .dropout = fused_find(fused, LAYER_dropout),
        .relu = fused_find(fused, LAYER_relu) != NULL,
        .in = inputs_of(fused),
        .out = outputs_of(fused),
        .scale = 1,
        .keep = op->saved,
    };
    if (call.dropout != NULL)
        call.scale = (real)(1.0 / (1.0 - call.dropout->rate));
    place_scratch(&call, (size_t)op->n, pool_threads(op->ex->pool), op->scratch);
    return call;
}

static struct small_list list_of(const struct small_dense_call *call, int thread)
{
    size_t skip = (size_t)thread * call->list_size;
    return (struct small_list){.values = call->list.values + skip, .rows = call->list.rows + skip};
}

/* Adds the rows of m that are in `list`, each times its factor, to sums [m->columns]. */
static void add_all_rows(const struct small_dense_call *call, const struct small_matrix *m,
                         const struct small_list *list, real *sums)
{
    for (size_t first = 0; first < m->columns; first += SMALL_DENSE_TILE)
        call->f->add_rows(m, list, first, sums + first);
}

static void finish_outputs(const struct small_dense_call *call, real *y, uint8_t *keep,
                           uint32_t sample)
{
    const struct exec *ex = call->op->ex;
    bool drops = call->dropout != NULL && ex->training;
    if (drops)
        dropout_mask_draw_by(call->isa, keep, ex, call->dropout, call->out, sample);
    call->f->finish(y, drops ? keep : NULL, call->out, call->relu, call->scale);
}

static void forward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct small_dense_call *call = arg;
    const struct op_call *op = call->op;
    const struct small_matrix weights = {
        .data = call->weights, .columns = call->out, .stride = pad(call->out)};
    const real *bias = added_bias(call->dense, op->params, call->out * call->in);
    struct small_list list = list_of(call, thread);
    for (size_t i = begin; i < end; i++) {
        real *y = op->y + i * call->out;
        call->f->list(&list, op->x + i * call->in, call->in);
        begin_outputs(y, call->dense, bias);
        add_all_rows(call, &weights, &list, y);
        finish_outputs(call, y, call->keep + i * call->out,
                       op->ex->samples != NULL ? op->ex->samples[i] : 0);
    }
}

static size_t block_of(const struct small_dense_call *call)
{
    return images_per_block(FLOPS_PER_BLOCK / 4, 2 * call->in * call->out);
}

static void forward(const struct fused_layers *fused, const struct op_call *op)
{
    struct small_dense_call call = call_of(fused, op);
    const struct small_matrix weights = {.data = op->params, .columns = call.in, .stride = call.in};
    call.f->transpose(&weights, call.out, call.transposed, pad(call.out));
    call.weights = call.transposed;
    exec_for(op->ex, (size_t)op->n, block_of(&call), forward_block, &call);
}

/* Computes the gradient of the dense layer's output for one image: 0 where ReLU or dropout set the
 * output to 0. */
static void fill_dz(const struct small_dense_call *call, size_t image, real *dz)
{
    const real *dy = call->op->dy + image * call->out, *y = call->op->y + image * call->out;
    const uint8_t *keep = call->keep + image * call->out;
    for (size_t o = 0; o < call->out; o++) {
        real g = dy[o] * call->scale;
        if (call->dropout != NULL)
            g = keep[o] ? g : 0;
        if (call->relu)
            g = y[o] > 0 ? g : 0;
        dz[o] = g;
    }
}

static void backward_images(void *arg, size_t begin, size_t end, int thread)
{
    const struct small_dense_call *call = arg;
    const struct small_matrix weights = {
        .data = call->weights, .columns = call->in, .stride = pad(call->in)};
    struct small_list list = list_of(call, thread);
    size_t stride = pad((size_t)call->op->n);
    real dz[OUTPUTS_MAX];
    for (size_t i = begin; i < end; i++) {
        fill_dz(call, i, dz);
        for (size_t o = 0; o < call->out; o++)
            call->dz[o * stride + i] = dz[o];
        if (call->op->dx == NULL)
            continue;
        real *dx = call->op->dx + i * call->in;
        memset(dx, 0, call->in * sizeof *dx);
        call->f->list(&list, dz, call->out);
        add_all_rows(call, &weights, &list, dx);
    }
}

/* Adds the gradients of a group of images to one tile of row o of dW and, with the first tile, to
 * element o of the bias gradient. */
static void add_tile(const struct small_dense_call *call, const struct small_matrix *x,
                     struct small_list *list, size_t o, size_t image, size_t first)
{
    const struct op_call *op = call->op;
    size_t n = (size_t)op->n, images = n - image < GROUP ? n - image : GROUP;
    call->f->list(list, call->dz + o * pad(n) + image, images);
    call->f->add_rows(x, list, first, op->dparams + o * call->in + first);
    real *dbias = op->dparams + call->out * call->in + o;
    for (size_t i = 0; first == 0 && !call->dense->without_bias && i < list->n; i++)
        *dbias += list->values[i];
}

/* Computes rows [begin, end) of dW and of the bias gradient. Each tile of the inputs is used for
 * all rows before the next tile is read. */
static void backward_rows(void *arg, size_t begin, size_t end, int thread)
{
    const struct small_dense_call *call = arg;
    const struct op_call *op = call->op;
    struct small_list list = list_of(call, thread);
    if (!op->ex->accumulate) {
        memset(op->dparams + begin * call->in, 0, (end - begin) * call->in * sizeof(real));
        if (!call->dense->without_bias)
            memset(op->dparams + call->out * call->in + begin, 0, (end - begin) * sizeof(real));
    }
    for (size_t image = 0; image < (size_t)op->n; image += GROUP) {
        const struct small_matrix x = {
            .data = op->x + image * call->in, .columns = call->in, .stride = call->in};
        for (size_t first = 0; first < call->in; first += SMALL_DENSE_TILE)
            for (size_t o = begin; o < end; o++)
                add_tile(call, &x, &list, o, image, first);
    }
}

static void backward(const struct fused_layers *fused, const struct op_call *op)
{
    struct small_dense_call call = call_of(fused, op);
    call.weights = op->params;
    if (call.in != pad(call.in)) {
        for (size_t o = 0; o < call.out; o++)
            memcpy(call.transposed + o * pad(call.in), op->params + o * call.in,
                   call.in * sizeof(real));
        call.weights = call.transposed;
    }
    exec_for(op->ex, (size_t)op->n, block_of(&call), backward_images, &call);
    exec_for(op->ex, call.out, images_per_block(FLOPS_PER_BLOCK / 4, 2 * (size_t)op->n * call.in),
             backward_rows, &call);
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    return fused_find(fused, LAYER_dropout) != NULL ? (size_t)n * outputs_of(fused) : 0;
}

static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    struct small_dense_call call = {.in = inputs_of(fused), .out = outputs_of(fused)};
    return place_scratch(&call, (size_t)n, threads, NULL);
}

static unsigned savings(const struct fused_layers *fused)
{
    return SAVING_BIT(SAVING_data_zeros);
}

/* flops_forward and flops_backward are not set: skipped zeros are counted as computed, since their
 * number depends on the images. */
OP_KERNEL(small_dense, LAYOUT_NCHW, LAYOUT_NCHW, match, .savings = savings);
