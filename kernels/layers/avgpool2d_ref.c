/* Plain loops: the oracle for avgpool2d.c. Never tuned. */
#include <string.h>

#include "kernels/layers/layer_tables.h"
#include "kernels/layers/window.h"

static real sum_window(const struct layer_desc *l, const struct window *w, const real *plane)
{
    real sum = 0;
    for (int r = w->row_begin; r < w->row_end; r++)
        for (int c = w->column_begin; c < w->column_end; c++)
            sum += plane[window_offset(l, w, r, c)];
    return sum;
}

static void add_to_window(const struct layer_desc *l, const struct window *w, real *plane,
                          real value)
{
    for (int r = w->row_begin; r < w->row_end; r++)
        for (int c = w->column_begin; c < w->column_end; c++)
            plane[window_offset(l, w, r, c)] += value;
}

static void avgpool2d_ref_forward(const struct layer_call *c)
{
    const struct layer_desc *l = c->layer;
    real area = (real)(l->kernel_h * l->kernel_w), *y = c->y;
    const real *x = c->x;
    for (int plane = 0; plane < c->n * l->in.c; plane++, x += (size_t)l->in.h * (size_t)l->in.w) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct window w = window_at(l, oh, ow);
                *y++ = sum_window(l, &w, x) / area;
            }
        }
        exec_poll(c->ex);
    }
}

static void avgpool2d_ref_backward(const struct layer_call *c)
{
    if (c->dx == NULL)
        return;
    const struct layer_desc *l = c->layer;
    real area = (real)(l->kernel_h * l->kernel_w), *dx = c->dx;
    const real *dy = c->dy;
    memset(dx, 0, (size_t)c->n * shape_count(l->in) * sizeof *dx);
    for (int plane = 0; plane < c->n * l->in.c; plane++, dx += (size_t)l->in.h * (size_t)l->in.w) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct window w = window_at(l, oh, ow);
                add_to_window(l, &w, dx, *dy++ / area);
            }
        }
        exec_poll(c->ex);
    }
}

const struct layer_kernel layer_avgpool2d_ref = {
    .name = "avgpool2d_ref",
    .forward = avgpool2d_ref_forward,
    .backward = avgpool2d_ref_backward,
};
