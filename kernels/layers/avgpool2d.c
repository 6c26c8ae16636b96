/* Average pooling. The innermost loop runs over the outputs of a row, so that it vectorises. Each
 * output sums its window row by row. */
#include <string.h>

#include "kernels/base/simd.h"
#include "kernels/layers/pool2d.h"

/* Finds the range [*begin, *end) of the n outputs of a row for which column `k` of the window lies
 * inside the image (width `size`), not in the padding. */
static void inside(int k, int stride, int pad, int size, int n, int *begin, int *end)
{
    int first = pad - k, last = size - 1 + pad - k;
    *begin = first > 0 ? (first + stride - 1) / stride : 0;
    *end = last < 0 ? 0 : last / stride + 1;
    if (*end > n)
        *end = n;
}

static inline void add_strided(real *restrict y, const real *restrict x, int n, size_t stride)
{
    for (int o = 0; o < n; o++)
        y[o] += x[(size_t)o * stride];
}

static inline void spread_strided(real *restrict x, const real *restrict y, int n, size_t stride,
                                  real scale)
{
    for (int o = 0; o < n; o++)
        x[(size_t)o * stride] += y[o] * scale;
}

SIMD_CLONES static void pool_plane(const struct layer_call *call, size_t in, size_t out)
{
    const struct layer_desc *l = call->layer;
    const real *x = call->x + in;
    real *y = call->y + out;
    real scale = (real)(1.0 / (l->kernel_h * l->kernel_w));
    for (int oh = 0; oh < l->out.h; oh++, y += l->out.w) {
        memset(y, 0, (size_t)l->out.w * sizeof *y);
        for (int r = 0; r < l->kernel_h; r++) {
            int row = oh * l->stride_h - l->pad_h + r;
            for (int c = 0; c < l->kernel_w && row >= 0 && row < l->in.h; c++) {
                int begin, end;
                inside(c, l->stride_w, l->pad_w, l->in.w, l->out.w, &begin, &end);
                const real *from = x + (size_t)row * (size_t)l->in.w;
                add_strided(y + begin, from + (begin * l->stride_w - l->pad_w + c), end - begin,
                            (size_t)l->stride_w);
            }
        }
        for (int o = 0; o < l->out.w; o++)
            y[o] *= scale;
    }
}

SIMD_CLONES static void unpool_plane(const struct layer_call *call, size_t in, size_t out)
{
    const struct layer_desc *l = call->layer;
    const real *dy = call->dy + out;
    real *dx = call->dx + in;
    real scale = (real)(1.0 / (l->kernel_h * l->kernel_w));
    memset(dx, 0, (size_t)l->in.h * (size_t)l->in.w * sizeof *dx);
    for (int oh = 0; oh < l->out.h; oh++, dy += l->out.w) {
        for (int r = 0; r < l->kernel_h; r++) {
            int row = oh * l->stride_h - l->pad_h + r;
            for (int c = 0; c < l->kernel_w && row >= 0 && row < l->in.h; c++) {
                int begin, end;
                inside(c, l->stride_w, l->pad_w, l->in.w, l->out.w, &begin, &end);
                real *to = dx + (size_t)row * (size_t)l->in.w;
                spread_strided(to + (begin * l->stride_w - l->pad_w + c), dy + begin, end - begin,
                               (size_t)l->stride_w, scale);
            }
        }
    }
}

/* Returns the cost of pooling a plane: the number of positions in all its windows, including
 * padding. */
static size_t numbers_of(const struct layer_desc *l)
{
    return (size_t)l->out.h * (size_t)l->out.w * (size_t)(l->kernel_h * l->kernel_w);
}

static void avgpool2d_forward(const struct layer_call *c)
{
    pool_planes(c, numbers_of(c->layer), pool_plane);
}

static void avgpool2d_backward(const struct layer_call *c)
{
    if (c->dx != NULL)
        pool_planes(c, numbers_of(c->layer), unpool_plane);
}

const struct layer_kernel layer_avgpool2d = {
    .reference = &layer_avgpool2d_ref,
    .forward = avgpool2d_forward,
    .backward = avgpool2d_backward,
};
