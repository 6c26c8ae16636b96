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

static void avgpool2d_ref_forward(const struct exec *ex, const struct layer_desc *l, int n, real *y,
                                  const real *x, const real *params, void *saved, void *scratch)
{
    (void)params;
    (void)saved;
    (void)scratch;
    real area = (real)(l->kernel_h * l->kernel_w);
    for (int plane = 0; plane < n * l->in.c; plane++, x += (size_t)l->in.h * (size_t)l->in.w) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct window w = window_at(l, oh, ow);
                *y++ = sum_window(l, &w, x) / area;
            }
        }
        exec_poll(ex);
    }
}

static void avgpool2d_ref_backward(const struct exec *ex, const struct layer_desc *l, int n,
                                   real *dx, real *dparams, const real *dy, const real *x,
                                   const real *y, const real *params, const void *saved,
                                   void *scratch)
{
    (void)dparams;
    (void)x;
    (void)y;
    (void)params;
    (void)saved;
    (void)scratch;
    if (!dx)
        return;
    real area = (real)(l->kernel_h * l->kernel_w);
    size_t in_plane = (size_t)l->in.h * (size_t)l->in.w;
    memset(dx, 0, (size_t)n * shape_count(l->in) * sizeof *dx);
    for (int plane = 0; plane < n * l->in.c; plane++, dx += in_plane) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct window w = window_at(l, oh, ow);
                add_to_window(l, &w, dx, *dy++ / area);
            }
        }
        exec_poll(ex);
    }
}

const struct layer_kernel layer_avgpool2d_ref = {
    .name = "avgpool2d_ref",
    .saved_bytes = layer_saves_nothing,
    .scratch_bytes = layer_needs_no_scratch,
    .forward = avgpool2d_ref_forward,
    .backward = avgpool2d_ref_backward,
};
