/* Layout in which forward of a small convolution reads an image. Plane (u, v) holds columns v, v +
 * 2, ... of rows u, u + 2, ..., without gaps, for u = 0 and 1 and v = 0 to kernel (inclusive). The
 * inputs of adjacent pooling windows are then contiguous, even if rows are short. */
#pragma once

#include "kernels/simd/lanes.h"
#include "kernels/simd/small_conv/small_conv.h"

/* Vector of four numbers, for rows of at most four windows. */
typedef real vquad __attribute__((vector_size(4 * sizeof(real))));
typedef lane_int vquad_lane __attribute__((vector_size(4 * sizeof(real))));

/* Copies every second number of each row: to[j] = from[2 j] for j < `width`. Stores whole vectors:
 * the next row overwrites the numbers stored beyond `width`. */
INLINE void cut_rows(real *to, const real *from, size_t rows, size_t width, size_t step,
                     const bool narrow)
{
    for (size_t row = 0; row < rows; row++, to += width, from += step) {
        if (narrow) {
            vquad a, b, even;
            memcpy(&a, from, sizeof a);
            memcpy(&b, from + 4, sizeof b);
            even = __builtin_shuffle(a, b, (vquad_lane){0, 2, 4, 6});
            memcpy(to, &even, sizeof even);
            continue;
        }
        for (size_t j = 0; j < width; j += VECTOR_LANES)
            vreal_store(to + j, vreal_even(vreal_load(from + 2 * j),
                                           vreal_load(from + 2 * j + VECTOR_LANES)));
    }
}

#ifdef LANES_HAS_QUADS
/* Returns in one vector numbers 0, 2, 4, 6 of both rows, then 1, 3, 5, 7 of both rows. Loads only
 * eight numbers per row: memory after them may belong to another thread. */
INLINE vreal cut_two_rows(const real *from, const real *next)
{
    return vreal_shuffle(vreal_load_first(from, 8), vreal_load_first(next, 8),
                         (vint){0, 2, 4, 6, 16, 18, 20, 22, 1, 3, 5, 7, 17, 19, 21, 23});
}

/* Computes planes[v], one vector of plane v, from four rows of the image. A row of a plane has four
 * numbers. */
INLINE void cut_four_rows(vreal planes[], const real *const rows[4], const int kernel)
{
    const vint low = {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
    UNROLL
    for (int v = 0; v <= kernel; v += 2) {
        vreal first = cut_two_rows(rows[0] + v, rows[1] + v);
        vreal last = cut_two_rows(rows[2] + v, rows[3] + v);
        planes[v] = vreal_shuffle(first, last, low);
        planes[v + 1] = vreal_shuffle(first, last, low + 8);
    }
}

/* Computes planes (u, 0) to (u, kernel) of an input channel. Plane (u, v) has every second row from
 * u and every second column from v. Requires planes whose rows have four numbers (pooled_w = 4),
 * and an odd `kernel`. `from`: row u of the channel. Each vector stored lies within one cache
 * line. */
INLINE void cut_narrow(const struct small_conv *c, real *to, const real *from, size_t rows,
                       const int kernel)
{
    for (size_t row = 0; row < rows; row += 4) {
        vreal planes[SMALL_CONV_KERNEL_MAX + 1];
        const real *four[4];
        for (size_t i = 0; i < 4; i++)
            four[i] = from + (row + i < rows ? row + i : rows - 1) * 2 * c->in_w;
        cut_four_rows(planes, four, kernel);
        UNROLL
        for (int v = 0; v <= kernel; v++)
            vreal_store(to + (size_t)v * c->plane + row * 4, planes[v]);
    }
}

/* Computes planes (u, v), v = 0 to kernel. Such a plane has every second column from v and every
 * second row from u. `from`: row u of an input channel. Plane v + 2 is plane v shifted by one lane,
 * so pooled_w + kernel / 2 must be at most VECTOR_LANES. */
INLINE void cut_lanes(const struct small_conv *c, real *to, const real *from, size_t rows,
                      const int kernel)
{
    size_t width = c->pooled_w, step = 2 * c->in_w, plane = c->plane;
    size_t behind = c->in_w > VECTOR_LANES ? c->in_w - VECTOR_LANES : 0;
    for (size_t row = 0; row < rows; row++, to += width, from += step) {
        vreal a = vreal_load_first(from, c->in_w), b = vreal_all(0);
        if (behind > 0)
            b = vreal_load_first(from + VECTOR_LANES, behind);
        vreal half[2] = {vreal_even(a, b), vreal_odd(a, b)};
        real *at = to;
        UNROLL
        for (int v = 0; v <= kernel; v++, at += plane)
            vreal_store(at,
                        vreal_shuffle(half[v % 2], half[v % 2], vint_count_from((size_t)v / 2)));
    }
}
#endif

/* Computes the kernel + 1 planes (u, v), v = 0 to kernel, of an input channel. Plane (u, v) has
 * every second row from u and every second column from v. `x`: row u of the channel. `rows`: number
 * of rows of each plane. */
INLINE void cut_half(const struct small_conv *c, real *to, const real *x, size_t rows,
                     const int kernel)
{
    size_t width = c->pooled_w;
#ifdef LANES_HAS_QUADS
    if (width == 4 && kernel % 2 == 1) {
        cut_narrow(c, to, x, rows, kernel);
        return;
    }
    if (width > 4 && width + (size_t)kernel / 2 <= VECTOR_LANES) {
        cut_lanes(c, to, x, rows, kernel);
        return;
    }
#endif
    for (int v = 0; v <= kernel; v++, to += c->plane) {
        if (width <= 4)
            cut_rows(to, x + v, rows, width, 2 * c->in_w, true);
        else
            cut_rows(to, x + v, rows, width, 2 * c->in_w, false);
    }
}

/* Returns the number of image rows u, u + 2, ... that are inputs of some window. */
INLINE size_t rows_from(const struct small_conv *c, size_t u)
{
    size_t rows = c->pooled_h + c->kernel / 2, there = (c->in_h - u + 1) / 2;
    return rows < there ? rows : there;
}

INLINE void cut_planes(const struct small_conv *c, const struct small_conv_forward_work *w,
                       const int kernel)
{
    size_t half = (size_t)(kernel + 1) * c->plane;
    real *to = w->planes;
    for (size_t channel = 0; channel < c->in_c; channel++)
        for (size_t u = 0; u < 2; u++, to += half)
            cut_half(c, to, w->x + (channel * c->in_h + u) * c->in_w, rows_from(c, u), kernel);
}
