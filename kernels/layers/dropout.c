#include "kernels/layers/dropout_mask.h"

/* Every element by itself. */
static size_t dropout_saved_bytes(const struct layer_desc *layer, int n)
{
    return (size_t)n * dropout_units_of(layer).units;
}

static void dropout_forward(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                            const real *x, const real *params, void *saved, void *scratch)
{
    (void)params;
    (void)scratch;
    dropout_mask_forward(ex, NULL, layer, n, dropout_units_of(layer), y, x, saved);
}

static void dropout_backward(const struct exec *ex, const struct layer_desc *layer, int n, real *dx,
                             real *dparams, const real *dy, const real *x, const real *y,
                             const real *params, const void *saved, void *scratch)
{
    (void)dparams;
    (void)x;
    (void)y;
    (void)params;
    (void)scratch;
    if (dx)
        dropout_mask_backward(ex, layer, n, dropout_units_of(layer), dx, dy, saved);
}

const struct layer_kernel layer_dropout = {
    .name = "dropout",
    .saved_bytes = dropout_saved_bytes,
    .scratch_bytes = layer_needs_no_scratch,
    .forward = dropout_forward,
    .backward = dropout_backward,
};
