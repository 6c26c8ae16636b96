#include "kernels/layers/dropout_mask.h"

/* Every channel of an image by itself: Tompson et al., "Efficient object localization using
 * convolutional networks", CVPR 2015. */
static size_t dropout2d_saved_bytes(const struct layer_desc *layer, int n)
{
    return (size_t)n * dropout_units_of(layer).units;
}

static void dropout2d_forward(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                              const real *x, const real *params, void *saved, void *scratch)
{
    (void)params;
    (void)scratch;
    dropout_mask_forward(ex, NULL, layer, n, dropout_units_of(layer), y, x, saved);
}

static void dropout2d_backward(const struct exec *ex, const struct layer_desc *layer, int n,
                               real *dx, real *dparams, const real *dy, const real *x,
                               const real *y, const real *params, const void *saved, void *scratch)
{
    (void)dparams;
    (void)x;
    (void)y;
    (void)params;
    (void)scratch;
    if (dx)
        dropout_mask_backward(ex, layer, n, dropout_units_of(layer), dx, dy, saved);
}

const struct layer_kernel layer_dropout2d = {
    .name = "dropout2d",
    .saved_bytes = dropout2d_saved_bytes,
    .scratch_bytes = layer_needs_no_scratch,
    .forward = dropout2d_forward,
    .backward = dropout2d_backward,
};
