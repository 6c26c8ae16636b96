/* One layer by itself. */
#include "kernels/layers/layer_tables.h"
#include "kernels/ops/op.h"

static const struct layer_kernel *kernel_of(const struct stretch *s)
{
    return layer_kernel_get(s->layers->kind, s->plan);
}

static int layer_match(const struct layer_desc *layers, int n, const struct extent *read)
{
    (void)layers;
    (void)read;
    return n > 0;
}

static size_t layer_saved_bytes(const struct stretch *s, int n)
{
    return kernel_of(s)->saved_bytes(s->layers, n);
}

static size_t layer_scratch_bytes(const struct stretch *s, int n, int threads)
{
    return kernel_of(s)->scratch_bytes(s->layers, n, threads);
}

static void layer_forward(const struct stretch *s, const struct step_call *c)
{
    kernel_of(s)->forward(c->ex, s->layers, c->n, c->y, c->x, c->params, c->saved, c->scratch);
}

static void layer_backward(const struct stretch *s, const struct step_call *c)
{
    kernel_of(s)->backward(c->ex, s->layers, c->n, c->dx, c->dparams, c->dy, c->x, c->y, c->params,
                           c->saved, c->scratch);
}

const struct step_kernel step_layer = {
    .name = "layer",
    .in = LAYOUT_NCHW,
    .out = LAYOUT_NCHW,
    .match = layer_match,
    .saved_bytes = layer_saved_bytes,
    .scratch_bytes = layer_scratch_bytes,
    .forward = layer_forward,
    .backward = layer_backward,
};
