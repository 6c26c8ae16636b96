/* Receptive field of an output of a convolution or pooling: its position in an image with padding.
 * Internal to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* Receptive field of one output. The field begins at row `top` and column `left` of the image;
 * negative values lie in the padding. Rows [row_begin, row_end) and columns [column_begin,
 * column_end), counted from the field's first row and column, lie inside the image. */
struct receptive_field {
    int top, left;
    int row_begin, row_end, column_begin, column_end;
};

static inline int field_clip(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static inline struct receptive_field field_at(const struct layer_desc *l, int oh, int ow)
{
    struct receptive_field f = {.top = oh * l->stride_h - l->pad_h,
                                .left = ow * l->stride_w - l->pad_w};
    f.row_begin = field_clip(-f.top, 0, l->kernel_h);
    f.row_end = field_clip(l->in.h - f.top, 0, l->kernel_h);
    f.column_begin = field_clip(-f.left, 0, l->kernel_w);
    f.column_end = field_clip(l->in.w - f.left, 0, l->kernel_w);
    return f;
}

/* Returns the offset, in an input plane, of the field's element (row, column). */
static inline size_t field_offset(const struct layer_desc *l, const struct receptive_field *f,
                                  int row, int column)
{
    return (size_t)(f->top + row) * (size_t)l->in.w + (size_t)(f->left + column);
}
