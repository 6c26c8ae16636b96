/* Plain loops: the oracle for dense.c. Never tuned. */
#include <string.h>

#include "kernels/layers/layer_tables.h"

/* weights [out,in], then bias [out] */
static void dense_ref_forward(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                              const real *x, const real *params, void *saved, void *scratch)
{
    (void)saved;
    (void)scratch;
    size_t in = shape_count(layer->in), out = (size_t)layer->channels;
    const real *bias = params + out * in;
    for (int image = 0; image < n; image++, x += in, y += out) {
        for (size_t o = 0; o < out; o++) {
            y[o] = bias[o];
            for (size_t i = 0; i < in; i++)
                y[o] += params[o * in + i] * x[i];
        }
        exec_poll(ex);
    }
}

/* One image's share of the gradients. */
static void backward_params(real *dparams, const real *dy, const real *x, size_t in, size_t out)
{
    real *dbias = dparams + out * in;
    for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++)
            dparams[o * in + i] += dy[o] * x[i];
        dbias[o] += dy[o];
    }
}

static void backward_input(real *dx, const real *dy, const real *params, size_t in, size_t out)
{
    memset(dx, 0, in * sizeof *dx);
    for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++)
            dx[i] += params[o * in + i] * dy[o];
    }
}

static void dense_ref_backward(const struct exec *ex, const struct layer_desc *layer, int n,
                               real *dx, real *dparams, const real *dy, const real *x,
                               const real *y, const real *params, const void *saved, void *scratch)
{
    (void)y;
    (void)saved;
    (void)scratch;
    size_t in = shape_count(layer->in), out = (size_t)layer->channels;
    if (!ex->accumulate)
        memset(dparams, 0, (out * in + out) * sizeof *dparams);
    for (size_t image = 0; image < (size_t)n; image++) {
        backward_params(dparams, dy + image * out, x + image * in, in, out);
        if (dx)
            backward_input(dx + image * in, dy + image * out, params, in, out);
        exec_poll(ex);
    }
}

const struct layer_kernel layer_dense_ref = {
    .name = "dense_ref",
    .saved_bytes = layer_saves_nothing,
    .scratch_bytes = layer_needs_no_scratch,
    .forward = dense_ref_forward,
    .backward = dense_ref_backward,
};
