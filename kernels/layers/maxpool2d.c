/* Forward keeps where in its window each maximum was found, row * kernel_w + column, so that
 * backward need not search again. Of equal values the first in row order counts; NaN wins over
 * all. */
#include <stdint.h>
#include <string.h>

#include "kernels/base/simd.h"
#include "kernels/layers/layer_tables.h"
#include "kernels/layers/window.h"

struct maxpool_call {
    const struct layer_desc *layer;
    real *out;
    const real *in;
    uint16_t *where;       /* [N,out], written by forward */
    const uint16_t *found; /* the same, read by backward */
};

static size_t maxpool2d_saved_bytes(const struct layer_desc *layer, int n)
{
    return (size_t)n * shape_count(layer->out) * sizeof(uint16_t);
}

/* Row `oh` of outputs, any window; what lies in the padding is left out. */
static void pool_row(real *y, uint16_t *where, const real *plane, const struct layer_desc *l,
                     int oh)
{
    for (int o = 0; o < l->out.w; o++) {
        struct window w = window_at(l, oh, o);
        y[o] = plane[window_offset(l, &w, w.row_begin, w.column_begin)];
        where[o] = (uint16_t)(w.row_begin * l->kernel_w + w.column_begin);
        for (int r = w.row_begin; r < w.row_end; r++) {
            for (int c = w.column_begin; c < w.column_end; c++) {
                real v = plane[window_offset(l, &w, r, c)];
                if (v > y[o] || v != v) {
                    y[o] = v;
                    where[o] = (uint16_t)(r * l->kernel_w + c);
                }
            }
        }
    }
}

/* The usual 2x2 windows side by side, without a branch: which number is the largest cannot be
 * predicted, and guessing costs five times as much. Tells whether any number was NaN, for which the
 * outputs are not right. */
static inline __attribute__((always_inline)) bool pool_row_2x2(real *restrict y,
                                                               uint16_t *restrict where,
                                                               const real *restrict x, size_t row,
                                                               int outputs)
{
    int nan = 0;
    for (int o = 0; o < outputs; o++) {
        real a = x[2 * o], b = x[2 * o + 1];
        real c = x[row + 2 * (size_t)o], d = x[row + 2 * (size_t)o + 1];
        nan |= (a != a) | (b != b) | (c != c) | (d != d);
        int upper = b > a, lower = d > c;
        real upper_max = b > a ? b : a, lower_max = d > c ? d : c;
        int below = lower_max > upper_max;
        y[o] = lower_max > upper_max ? lower_max : upper_max;
        where[o] = (uint16_t)(upper + below * (2 + lower - upper));
    }
    return nan != 0;
}

SIMD_CLONES static void pool_plane(real *y, uint16_t *where, const real *x,
                                   const struct layer_desc *l)
{
    bool two_by_two =
        l->kernel_h == 2 && l->kernel_w == 2 && l->stride_w == 2 && l->pad_h == 0 && l->pad_w == 0;
    size_t row = (size_t)l->in.w;
    for (int r = 0; r < l->out.h; r++, y += l->out.w, where += l->out.w) {
        if (!two_by_two ||
            pool_row_2x2(y, where, x + (size_t)(r * l->stride_h) * row, row, l->out.w))
            pool_row(y, where, x, l, r);
    }
}

/* Items are planes, one channel of one image. */
static void maxpool_forward_block(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct maxpool_call *call = arg;
    const struct layer_desc *l = call->layer;
    size_t in_plane = (size_t)l->in.h * (size_t)l->in.w;
    size_t out_plane = (size_t)l->out.h * (size_t)l->out.w;
    for (size_t p = begin; p < end; p++)
        pool_plane(call->out + p * out_plane, call->where + p * out_plane, call->in + p * in_plane,
                   l);
}

static void unpool_plane(real *restrict dx, const real *restrict dy, const uint16_t *found,
                         const struct layer_desc *l)
{
    memset(dx, 0, (size_t)l->in.h * (size_t)l->in.w * sizeof *dx);
    for (int r = 0; r < l->out.h; r++) {
        for (int o = 0; o < l->out.w; o++) {
            int at = *found++;
            struct window w = {.top = r * l->stride_h - l->pad_h,
                               .left = o * l->stride_w - l->pad_w};
            dx[window_offset(l, &w, at / l->kernel_w, at % l->kernel_w)] += *dy++;
        }
    }
}

static void maxpool_backward_block(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct maxpool_call *call = arg;
    const struct layer_desc *l = call->layer;
    size_t in_plane = (size_t)l->in.h * (size_t)l->in.w;
    size_t out_plane = (size_t)l->out.h * (size_t)l->out.w;
    for (size_t p = begin; p < end; p++)
        unpool_plane(call->out + p * in_plane, call->in + p * out_plane,
                     call->found + p * out_plane, l);
}

static void run_planes(const struct exec *ex, const struct layer_desc *layer, int n,
                       block_function *f, struct maxpool_call *call)
{
    size_t plane = (size_t)layer->in.h * (size_t)layer->in.w;
    exec_for(ex, (size_t)n * (size_t)layer->in.c, images_per_block(ELEMENTS_PER_BLOCK, plane), f,
             call);
}

static void maxpool2d_forward(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                              const real *x, const real *params, void *saved, void *scratch)
{
    (void)params;
    (void)scratch;
    struct maxpool_call call = {.layer = layer, .out = y, .in = x, .where = saved};
    run_planes(ex, layer, n, maxpool_forward_block, &call);
}

static void maxpool2d_backward(const struct exec *ex, const struct layer_desc *layer, int n,
                               real *dx, real *dparams, const real *dy, const real *x,
                               const real *y, const real *params, const void *saved, void *scratch)
{
    (void)dparams;
    (void)x;
    (void)y;
    (void)params;
    (void)scratch;
    if (!dx)
        return;
    struct maxpool_call call = {.layer = layer, .out = dx, .in = dy, .found = saved};
    run_planes(ex, layer, n, maxpool_backward_block, &call);
}

const struct layer_kernel layer_maxpool2d = {
    .name = "maxpool2d",
    .saved_bytes = maxpool2d_saved_bytes,
    .scratch_bytes = layer_needs_no_scratch,
    .forward = maxpool2d_forward,
    .backward = maxpool2d_backward,
};
