/* Plain loops: the test oracle for dense.c. Never tuned. */
#include <string.h>

#include "kernels/layers/layer_tables.h"

/* params: weights [out,in], then bias [out] unless without_bias is set */
static void dense_ref_forward(const struct layer_call *c)
{
    size_t in = shape_count(c->layer->in), out = (size_t)c->layer->channels;
    const real *bias = added_bias(c->layer, c->params, out * in), *x = c->x;
    real *y = c->y;
    for (int image = 0; image < c->n; image++, x += in, y += out) {
        for (size_t o = 0; o < out; o++) {
            y[o] = bias != NULL ? bias[o] : 0;
            for (size_t i = 0; i < in; i++)
                y[o] += c->params[o * in + i] * x[i];
        }
        exec_poll(c->ex);
    }
}

/* Adds the contribution of one image to the gradients of weights and bias. */
static void backward_params(real *dparams, const real *dy, const real *x, size_t in, size_t out,
                            bool bias)
{
    real *dbias = dparams + out * in;
    for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++)
            dparams[o * in + i] += dy[o] * x[i];
        if (bias)
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

static void dense_ref_backward(const struct layer_call *c)
{
    size_t in = shape_count(c->layer->in), out = (size_t)c->layer->channels;
    if (!c->ex->accumulate)
        memset(c->dparams, 0, (out * in + bias_count(c->layer)) * sizeof *c->dparams);
    for (size_t image = 0; image < (size_t)c->n; image++) {
        const real *dy = c->dy + image * out;
        backward_params(c->dparams, dy, c->x + image * in, in, out, !c->layer->without_bias);
        if (c->dx != NULL)
            backward_input(c->dx + image * in, dy, c->params, in, out);
        exec_poll(c->ex);
    }
}

const struct layer_kernel layer_dense_ref = {
    .forward = dense_ref_forward,
    .backward = dense_ref_backward,
};
