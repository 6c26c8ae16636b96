#include "kernels/layers/pool2d.h"

#include <string.h>

static size_t plane_of(struct shape s)
{
    return (size_t)s.h * (size_t)s.w;
}

struct planes {
    const struct layer_call *c;
    plane_function *function;
};

static void run_planes(void *arg, size_t begin, size_t end, int thread)
{
    const struct planes *planes = arg;
    const struct layer_desc *l = planes->c->layer;
    for (size_t p = begin; p < end; p++)
        planes->function(planes->c, p * plane_of(l->in), p * plane_of(l->out));
}

void pool_planes(const struct layer_call *c, size_t numbers, plane_function *f)
{
    struct planes planes = {.c = c, .function = f};
    exec_for(c->ex, (size_t)c->n * (size_t)c->layer->in.c,
             images_per_block(ELEMENTS_PER_BLOCK, numbers), run_planes, &planes);
}

void pool_all_outputs(const struct layer_call *c, output_function *f)
{
    const struct layer_desc *l = c->layer;
    size_t out = 0, planes = (size_t)c->n * (size_t)l->in.c;
    for (size_t p = 0; p < planes; p++) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct receptive_field field = field_at(l, oh, ow);
                f(c, &field, p * plane_of(l->in), out++);
            }
        }
        exec_poll(c->ex);
    }
}

void pool_all_gradients(const struct layer_call *c, output_function *f)
{
    if (c->dx == NULL)
        return;
    memset(c->dx, 0, (size_t)c->n * shape_count(c->layer->in) * sizeof *c->dx);
    pool_all_outputs(c, f);
}
