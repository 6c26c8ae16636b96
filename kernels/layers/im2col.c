#include "kernels/layers/im2col.h"

#include <string.h>

#include "kernels/base/simd.h"

/* Outputs [begin, end) along one axis for which kernel position `tap` lies inside the image.
 * `first` is the input position for output `begin`. */
struct span {
    int begin, end, first;
};

static struct span span_of(int tap, int outputs, int inputs, int stride, int pad)
{
    struct span s = {.begin = 0, .end = 0, .first = 0};
    int shift = pad - tap; /* input position = output * stride - shift */
    s.begin = shift > 0 ? (shift + stride - 1) / stride : 0;
    s.end = inputs - 1 + shift >= 0 ? (inputs - 1 + shift) / stride + 1 : 0;
    if (s.end > outputs)
        s.end = outputs;
    if (s.end < s.begin)
        s.end = s.begin = 0;
    s.first = s.begin * stride - shift;
    return s;
}

/* Copies in a loop, which is faster than memcpy for typical rows of 3 to 30 numbers. Inlined so
 * that stride 1 is a constant. */
static inline __attribute__((always_inline)) void
copy_rows(real *restrict cols, const real *restrict x, const struct layer_desc *l, struct span rows,
          struct span columns, int stride)
{
    int count = columns.end - columns.begin;
    size_t step = (size_t)l->stride_h * (size_t)l->in.w;
    x += (size_t)rows.first * (size_t)l->in.w + (size_t)columns.first;
    cols += (size_t)rows.begin * (size_t)l->out.w + (size_t)columns.begin;
    for (int r = rows.begin; r < rows.end; r++, x += step, cols += l->out.w) {
        for (int i = 0; i < count; i++)
            cols[i] = x[i * stride];
    }
}

static inline __attribute__((always_inline)) void
add_rows(real *restrict x, const real *restrict cols, const struct layer_desc *l, struct span rows,
         struct span columns, int stride)
{
    int count = columns.end - columns.begin;
    size_t step = (size_t)l->stride_h * (size_t)l->in.w;
    x += (size_t)rows.first * (size_t)l->in.w + (size_t)columns.first;
    cols += (size_t)rows.begin * (size_t)l->out.w + (size_t)columns.begin;
    for (int r = rows.begin; r < rows.end; r++, x += step, cols += l->out.w) {
        for (int i = 0; i < count; i++)
            x[i * stride] += cols[i];
    }
}

static bool span_is_full(struct span s, int outputs)
{
    return s.begin == 0 && s.end == outputs;
}

/* Writes one row of cols: the inputs of one channel at kernel position (r, s), for all outputs. */
SIMD_CLONES static void gather_tap(real *cols, const real *x, const struct layer_desc *l, int r,
                                   int s)
{
    struct span rows = span_of(r, l->out.h, l->in.h, l->stride_h, l->pad_h);
    struct span columns = span_of(s, l->out.w, l->in.w, l->stride_w, l->pad_w);
    if (!span_is_full(rows, l->out.h) || !span_is_full(columns, l->out.w))
        memset(cols, 0, (size_t)l->out.h * (size_t)l->out.w * sizeof *cols);
    if (l->stride_w == 1)
        copy_rows(cols, x, l, rows, columns, 1);
    else
        copy_rows(cols, x, l, rows, columns, l->stride_w);
}

SIMD_CLONES static void scatter_tap(real *x, const real *cols, const struct layer_desc *l, int r,
                                    int s)
{
    struct span rows = span_of(r, l->out.h, l->in.h, l->stride_h, l->pad_h);
    struct span columns = span_of(s, l->out.w, l->in.w, l->stride_w, l->pad_w);
    if (l->stride_w == 1)
        add_rows(x, cols, l, rows, columns, 1);
    else
        add_rows(x, cols, l, rows, columns, l->stride_w);
}

void im2col(real *cols, size_t ld, const real *x, const struct layer_desc *l)
{
    for (int c = 0; c < l->in.c; c++, x += (size_t)l->in.h * (size_t)l->in.w)
        for (int r = 0; r < l->kernel_h; r++)
            for (int s = 0; s < l->kernel_w; s++, cols += ld)
                gather_tap(cols, x, l, r, s);
}

void col2im_add(real *x, const real *cols, size_t ld, const struct layer_desc *l)
{
    for (int c = 0; c < l->in.c; c++, x += (size_t)l->in.h * (size_t)l->in.w)
        for (int r = 0; r < l->kernel_h; r++)
            for (int s = 0; s < l->kernel_w; s++, cols += ld)
                scatter_tap(x, cols, l, r, s);
}
