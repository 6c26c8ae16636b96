/* Plain loops: the test oracle for conv2d.c. Never tuned. */
#include <string.h>

#include "kernels/layers/layer_tables.h"
#include "kernels/layers/receptive_field.h"

/* input_at returns the offset, within an image, of channel c at position (r, s) of field f.
 * weight_at returns the offset of weight (c, r, s) among the weights of one output channel. */
static size_t input_at(const struct layer_desc *l, const struct receptive_field *f, int c, int r,
                       int s)
{
    return (size_t)c * (size_t)l->in.h * (size_t)l->in.w + field_offset(l, f, r, s);
}

static size_t weight_at(const struct layer_desc *l, int c, int r, int s)
{
    return ((size_t)c * (size_t)l->kernel_h + (size_t)r) * (size_t)l->kernel_w + (size_t)s;
}

static size_t weights_per_output(const struct layer_desc *l)
{
    return (size_t)l->in.c * (size_t)l->kernel_h * (size_t)l->kernel_w;
}

static real dot_field(const struct layer_desc *l, const struct receptive_field *f, const real *x,
                      const real *weights)
{
    real sum = 0;
    for (int c = 0; c < l->in.c; c++)
        for (int r = f->row_begin; r < f->row_end; r++)
            for (int s = f->column_begin; s < f->column_end; s++)
                sum += x[input_at(l, f, c, r, s)] * weights[weight_at(l, c, r, s)];
    return sum;
}

static void add_field_to_weights(const struct layer_desc *l, const struct receptive_field *f,
                                 real *dweights, const real *x, real dy)
{
    for (int c = 0; c < l->in.c; c++)
        for (int r = f->row_begin; r < f->row_end; r++)
            for (int s = f->column_begin; s < f->column_end; s++)
                dweights[weight_at(l, c, r, s)] += dy * x[input_at(l, f, c, r, s)];
}

static void add_field_to_input(const struct layer_desc *l, const struct receptive_field *f,
                               real *dx, const real *weights, real dy)
{
    for (int c = 0; c < l->in.c; c++)
        for (int r = f->row_begin; r < f->row_end; r++)
            for (int s = f->column_begin; s < f->column_end; s++)
                dx[input_at(l, f, c, r, s)] += dy * weights[weight_at(l, c, r, s)];
}

/* params: weights [out.c,in.c,kernel_h,kernel_w], then bias [out.c] unless without_bias is set */
static void conv2d_ref_forward(const struct layer_call *c)
{
    const struct layer_desc *l = c->layer;
    size_t k = weights_per_output(l);
    const real *bias = added_bias(l, c->params, (size_t)l->out.c * k), *x = c->x;
    real *y = c->y;
    for (int image = 0; image < c->n; image++, x += shape_count(l->in)) {
        for (int o = 0; o < l->out.c; o++) {
            for (int oh = 0; oh < l->out.h; oh++) {
                for (int ow = 0; ow < l->out.w; ow++) {
                    struct receptive_field f = field_at(l, oh, ow);
                    *y++ = (bias != NULL ? bias[o] : 0) +
                           dot_field(l, &f, x, c->params + (size_t)o * k);
                }
            }
        }
        exec_poll(c->ex);
    }
}

/* Adds the contribution of one image to all gradients. dx is zero on entry, or NULL. */
static void backward_image(const struct layer_desc *l, real *dx, real *dparams, const real *dy,
                           const real *x, const real *params)
{
    size_t k = weights_per_output(l);
    real *dbias = dparams + (size_t)l->out.c * k;
    for (int o = 0; o < l->out.c; o++) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++, dy++) {
                struct receptive_field f = field_at(l, oh, ow);
                add_field_to_weights(l, &f, dparams + (size_t)o * k, x, *dy);
                if (dx != NULL)
                    add_field_to_input(l, &f, dx, params + (size_t)o * k, *dy);
                if (!l->without_bias)
                    dbias[o] += *dy;
            }
        }
    }
}

static void conv2d_ref_backward(const struct layer_call *c)
{
    const struct layer_desc *l = c->layer;
    size_t in = shape_count(l->in), out = shape_count(l->out);
    size_t n_params = (size_t)l->out.c * weights_per_output(l) + bias_count(l);
    if (!c->ex->accumulate)
        memset(c->dparams, 0, n_params * sizeof *c->dparams);
    if (c->dx != NULL)
        memset(c->dx, 0, (size_t)c->n * in * sizeof *c->dx);
    for (size_t image = 0; image < (size_t)c->n; image++) {
        backward_image(l, c->dx != NULL ? c->dx + image * in : NULL, c->dparams,
                       c->dy + image * out, c->x + image * in, c->params);
        exec_poll(c->ex);
    }
}

const struct layer_kernel layer_conv2d_ref = {
    .forward = conv2d_ref_forward,
    .backward = conv2d_ref_backward,
};
