/* An op for any single layer: calls the layer's own kernel. */
#include "kernels/layers/layer_tables.h"
#include "kernels/ops/op.h"

static const struct layer_kernel *kernel_of(const struct fused_layers *fused)
{
    return layer_kernel_get(fused->layers->kind, fused->plan);
}

static int layer_match(const struct layer_desc *layers, int n, const struct extent *read)
{
    return n > 0;
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    return layer_saved_bytes(kernel_of(fused), fused->layers, n);
}

static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    return layer_scratch_bytes(kernel_of(fused), fused->layers, n, threads);
}

static void forward(const struct fused_layers *fused, const struct op_call *c)
{
    struct layer_call call = layer_call_of(fused, c);
    kernel_of(fused)->forward(&call);
}

static void backward(const struct fused_layers *fused, const struct op_call *c)
{
    struct layer_call call = layer_call_of(fused, c);
    kernel_of(fused)->backward(&call);
}

OP_KERNEL(layer, LAYOUT_NCHW, LAYOUT_NCHW, layer_match, .savings = NULL);
