#include "kernels/base/simd.h"
#include "kernels/layers/layer_tables.h"

struct relu_call {
    real *out;
    const real *in, *y; /* y is the layer's output, in backward only */
};

/* Written so that NaN stays NaN: a net that has diverged must show it. */
SIMD_CLONES static void relu_forward_block(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct relu_call *call = arg;
    real *restrict out = call->out;
    const real *restrict in = call->in;
    for (size_t i = begin; i < end; i++)
        out[i] = in[i] < 0 ? 0 : in[i];
}

SIMD_CLONES static void relu_backward_block(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct relu_call *call = arg;
    real *restrict out = call->out;
    const real *restrict in = call->in, *restrict y = call->y;
    for (size_t i = begin; i < end; i++)
        out[i] = y[i] > 0 ? in[i] : 0;
}

static void relu_forward(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                         const real *x, const real *params, void *saved, void *scratch)
{
    (void)params;
    (void)saved;
    (void)scratch;
    struct relu_call call = {.out = y, .in = x};
    exec_for(ex, (size_t)n * shape_count(layer->in), ELEMENTS_PER_BLOCK, relu_forward_block, &call);
}

static void relu_backward(const struct exec *ex, const struct layer_desc *layer, int n, real *dx,
                          real *dparams, const real *dy, const real *x, const real *y,
                          const real *params, const void *saved, void *scratch)
{
    (void)dparams;
    (void)x;
    (void)params;
    (void)saved;
    (void)scratch;
    if (!dx)
        return;
    struct relu_call call = {.out = dx, .in = dy, .y = y};
    exec_for(ex, (size_t)n * shape_count(layer->in), ELEMENTS_PER_BLOCK, relu_backward_block,
             &call);
}

const struct layer_kernel layer_relu = {
    .name = "relu",
    .saved_bytes = layer_saves_nothing,
    .scratch_bytes = layer_needs_no_scratch,
    .forward = relu_forward,
    .backward = relu_backward,
};
