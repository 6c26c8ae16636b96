/* One layer by itself. */
#include "kernels/layers/layer_tables.h"
#include "kernels/ops/op.h"

static const struct layer_kernel *kernel_of(const struct fused_layers *fused)
{
    return layer_kernel_get(fused->layers->kind, fused->plan);
}

static int layer_match(const struct layer_desc *layers, int n, const struct extent *read)
{
    (void)layers;
    (void)read;
    return n > 0;
}

static size_t layer_saved_bytes(const struct fused_layers *fused, int n)
{
    return kernel_of(fused)->saved_bytes(fused->layers, n);
}

static size_t layer_scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    return kernel_of(fused)->scratch_bytes(fused->layers, n, threads);
}

static void layer_forward(const struct fused_layers *fused, const struct op_call *c)
{
    kernel_of(fused)->forward(c->ex, fused->layers, c->n, c->y, c->x, c->params, c->saved,
                              c->scratch);
}

static void layer_backward(const struct fused_layers *fused, const struct op_call *c)
{
    kernel_of(fused)->backward(c->ex, fused->layers, c->n, c->dx, c->dparams, c->dy, c->x, c->y,
                               c->params, c->saved, c->scratch);
}

const struct op_kernel op_layer = {
    .name = "layer",
    .in = LAYOUT_NCHW,
    .out = LAYOUT_NCHW,
    .match = layer_match,
    .saved_bytes = layer_saved_bytes,
    .scratch_bytes = layer_scratch_bytes,
    .forward = layer_forward,
    .backward = layer_backward,
};
