#include <math.h>

#include "kernels/layers/layer_tables.h"

static void tanh_forward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct layer_call *c = arg;
    for (size_t i = begin; i < end; i++)
        c->y[i] = (real)tanh((double)c->x[i]);
}

static void tanh_backward_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct layer_call *c = arg;
    for (size_t i = begin; i < end; i++)
        c->dx[i] = c->dy[i] * (1 - c->y[i] * c->y[i]);
}

static void tanh_forward(const struct layer_call *c)
{
    exec_for(c->ex, (size_t)c->n * shape_count(c->layer->in), ELEMENTS_PER_BLOCK,
             tanh_forward_block, (void *)c);
}

static void tanh_backward(const struct layer_call *c)
{
    if (c->dx != NULL)
        exec_for(c->ex, (size_t)c->n * shape_count(c->layer->in), ELEMENTS_PER_BLOCK,
                 tanh_backward_block, (void *)c);
}

const struct layer_kernel layer_tanh = {
    .forward = tanh_forward,
    .backward = tanh_backward,
};
