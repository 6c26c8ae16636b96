/* Plain loops: the oracle for maxpool2d.c. Never tuned. Backward looks for each maximum again. */
#include <string.h>

#include "kernels/layers/layer_tables.h"
#include "kernels/layers/window.h"

/* Offset in the plane of the window's first largest number; NaN, the last of them, is larger than
 * all. */
static size_t find_maximum(const struct layer_desc *l, const struct window *w, const real *plane)
{
    size_t best = window_offset(l, w, w->row_begin, w->column_begin);
    for (int r = w->row_begin; r < w->row_end; r++) {
        for (int c = w->column_begin; c < w->column_end; c++) {
            size_t at = window_offset(l, w, r, c);
            if (plane[at] > plane[best] || plane[at] != plane[at])
                best = at;
        }
    }
    return best;
}

static void maxpool2d_ref_forward(const struct layer_call *c)
{
    const struct layer_desc *l = c->layer;
    const real *x = c->x;
    real *y = c->y;
    for (int plane = 0; plane < c->n * l->in.c; plane++, x += (size_t)l->in.h * (size_t)l->in.w) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct window w = window_at(l, oh, ow);
                *y++ = x[find_maximum(l, &w, x)];
            }
        }
        exec_poll(c->ex);
    }
}

static void maxpool2d_ref_backward(const struct layer_call *c)
{
    if (c->dx == NULL)
        return;
    const struct layer_desc *l = c->layer;
    size_t in_plane = (size_t)l->in.h * (size_t)l->in.w;
    const real *x = c->x, *dy = c->dy;
    real *dx = c->dx;
    memset(dx, 0, (size_t)c->n * shape_count(l->in) * sizeof *dx);
    for (int plane = 0; plane < c->n * l->in.c; plane++, x += in_plane, dx += in_plane) {
        for (int oh = 0; oh < l->out.h; oh++) {
            for (int ow = 0; ow < l->out.w; ow++) {
                struct window w = window_at(l, oh, ow);
                dx[find_maximum(l, &w, x)] += *dy++;
            }
        }
        exec_poll(c->ex);
    }
}

const struct layer_kernel layer_maxpool2d_ref = {
    .name = "maxpool2d_ref",
    .forward = maxpool2d_ref_forward,
    .backward = maxpool2d_ref_backward,
};
