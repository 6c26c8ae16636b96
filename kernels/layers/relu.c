#include "kernels/base/simd.h"
#include "kernels/layers/layer_tables.h"

/* Keeps NaN unchanged, so that the divergence of a net is noticed. */
SIMD_CLONES static void relu_forward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct layer_call *c = arg;
    real *restrict y = c->y;
    const real *restrict x = c->x;
    for (size_t i = begin; i < end; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
}

SIMD_CLONES static void relu_backward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct layer_call *c = arg;
    real *restrict dx = c->dx;
    const real *restrict dy = c->dy, *restrict y = c->y;
    for (size_t i = begin; i < end; i++)
        dx[i] = y[i] > 0 ? dy[i] : 0;
}

static void relu_forward(const struct layer_call *c)
{
    exec_for(c->ex, (size_t)c->n * shape_count(c->layer->in), ELEMENTS_PER_BLOCK,
             relu_forward_block, (void *)c);
}

static void relu_backward(const struct layer_call *c)
{
    if (c->dx != NULL)
        exec_for(c->ex, (size_t)c->n * shape_count(c->layer->in), ELEMENTS_PER_BLOCK,
                 relu_backward_block, (void *)c);
}

const struct layer_kernel layer_relu = {
    .forward = relu_forward,
    .backward = relu_backward,
};
