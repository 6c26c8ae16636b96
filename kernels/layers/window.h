/* Where a window of a convolution or of pooling lies over an image with padding. Internal to
 * kernels/. */
#ifndef SCALEBENCH_KERNELS_LAYERS_WINDOW_H
#define SCALEBENCH_KERNELS_LAYERS_WINDOW_H

#include "kernels/layers/layer.h"

/* One output of one image and the window of the input that it sees. Rows [row_begin, row_end) and
 * columns [column_begin, column_end) of the window fall inside the image. */
struct window {
    int top, left;
    int row_begin, row_end, column_begin, column_end;
};

static inline int window_clip(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static inline struct window window_at(const struct layer_desc *l, int oh, int ow)
{
    struct window w = {.top = oh * l->stride_h - l->pad_h, .left = ow * l->stride_w - l->pad_w};
    w.row_begin = window_clip(-w.top, 0, l->kernel_h);
    w.row_end = window_clip(l->in.h - w.top, 0, l->kernel_h);
    w.column_begin = window_clip(-w.left, 0, l->kernel_w);
    w.column_end = window_clip(l->in.w - w.left, 0, l->kernel_w);
    return w;
}

/* Offset of (row, column) of the window in a plane of the input. */
static inline size_t window_offset(const struct layer_desc *l, const struct window *w, int row,
                                   int column)
{
    return (size_t)(w->top + row) * (size_t)l->in.w + (size_t)(w->left + column);
}

#endif
