/* Plain loops: the test oracle for avgpool2d.c. Never tuned. */
#include "kernels/layers/pool2d.h"

static real area_of(const struct layer_desc *l)
{
    return (real)(l->kernel_h * l->kernel_w);
}

static void average(const struct layer_call *c, const struct receptive_field *f, size_t plane,
                    size_t out)
{
    real sum = 0;
    for (int r = f->row_begin; r < f->row_end; r++)
        for (int s = f->column_begin; s < f->column_end; s++)
            sum += c->x[plane + field_offset(c->layer, f, r, s)];
    c->y[out] = sum / area_of(c->layer);
}

static void spread(const struct layer_call *c, const struct receptive_field *f, size_t plane,
                   size_t out)
{
    real share = c->dy[out] / area_of(c->layer);
    for (int r = f->row_begin; r < f->row_end; r++)
        for (int s = f->column_begin; s < f->column_end; s++)
            c->dx[plane + field_offset(c->layer, f, r, s)] += share;
}

static void avgpool2d_ref_forward(const struct layer_call *c)
{
    pool_all_outputs(c, average);
}

static void avgpool2d_ref_backward(const struct layer_call *c)
{
    pool_all_gradients(c, spread);
}

const struct layer_kernel layer_avgpool2d_ref = {
    .forward = avgpool2d_ref_forward,
    .backward = avgpool2d_ref_backward,
};
