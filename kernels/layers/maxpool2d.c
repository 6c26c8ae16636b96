/* Forward saves the position of each maximum in its window: row * kernel_w + column. The first of
 * equal values in row order is the maximum. NaN is larger than every number; of several NaN the
 * last is the maximum. */
#include <stdint.h>
#include <string.h>

#include "kernels/base/simd.h"
#include "kernels/layers/pool2d.h"

/* Returns the size in bytes of the saved positions: one uint16_t per output. */
static size_t maxpool2d_saved_bytes(const struct layer_desc *layer, int n)
{
    return (size_t)n * shape_count(layer->out) * sizeof(uint16_t);
}

/* Computes row `oh` of the outputs of one plane, for any window size. Padding is skipped. */
static void pool_row(real *y, uint16_t *where, const real *plane, const struct layer_desc *l,
                     int oh)
{
    for (int o = 0; o < l->out.w; o++) {
        struct receptive_field f = field_at(l, oh, o);
        y[o] = plane[field_offset(l, &f, f.row_begin, f.column_begin)];
        where[o] = (uint16_t)(f.row_begin * l->kernel_w + f.column_begin);
        for (int r = f.row_begin; r < f.row_end; r++) {
            for (int c = f.column_begin; c < f.column_end; c++) {
                real v = plane[field_offset(l, &f, r, c)];
                if (v > y[o] || v != v) {
                    y[o] = v;
                    where[o] = (uint16_t)(r * l->kernel_w + c);
                }
            }
        }
    }
}

/* Pools one row of adjacent 2x2 windows. Mispredicted branches would make the loop five times as
 * slow. Returns true if any input is NaN; the outputs are then wrong. */
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

SIMD_CLONES static void pool_plane(const struct layer_call *c, size_t in, size_t out)
{
    const struct layer_desc *l = c->layer;
    const real *x = c->x + in;
    real *y = c->y + out;
    uint16_t *where = (uint16_t *)c->saved + out;
    bool two_by_two =
        l->kernel_h == 2 && l->kernel_w == 2 && l->stride_w == 2 && l->pad_h == 0 && l->pad_w == 0;
    size_t row = (size_t)l->in.w;
    for (int r = 0; r < l->out.h; r++, y += l->out.w, where += l->out.w) {
        if (!two_by_two ||
            pool_row_2x2(y, where, x + (size_t)(r * l->stride_h) * row, row, l->out.w))
            pool_row(y, where, x, l, r);
    }
}

static void unpool_plane(const struct layer_call *c, size_t in, size_t out)
{
    const struct layer_desc *l = c->layer;
    const uint16_t *found = (const uint16_t *)c->saved + out;
    const real *restrict dy = c->dy + out;
    real *restrict dx = c->dx + in;
    memset(dx, 0, (size_t)l->in.h * (size_t)l->in.w * sizeof *dx);
    for (int r = 0; r < l->out.h; r++) {
        for (int o = 0; o < l->out.w; o++) {
            int at = *found++;
            struct receptive_field f = {.top = r * l->stride_h - l->pad_h,
                                        .left = o * l->stride_w - l->pad_w};
            dx[field_offset(l, &f, at / l->kernel_w, at % l->kernel_w)] += *dy++;
        }
    }
}

static size_t numbers_of(const struct layer_desc *l)
{
    return (size_t)l->in.h * (size_t)l->in.w;
}

static void maxpool2d_forward(const struct layer_call *c)
{
    pool_planes(c, numbers_of(c->layer), pool_plane);
}

static void maxpool2d_backward(const struct layer_call *c)
{
    if (c->dx != NULL)
        pool_planes(c, numbers_of(c->layer), unpool_plane);
}

const struct layer_kernel layer_maxpool2d = {
    .reference = &layer_maxpool2d_ref,
    .saved_bytes = maxpool2d_saved_bytes,
    .forward = maxpool2d_forward,
    .backward = maxpool2d_backward,
};
