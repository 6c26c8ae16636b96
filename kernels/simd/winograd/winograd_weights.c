/* Transforms of weights between [O,I,3,3] and panels, as in winograd.h. Lanes are channels. The
 * nine weights of each channel are loaded and transposed in registers. Gathering single numbers
 * took five times as long (4 ms for 512 by 512 channels). */
#include "kernels/simd/operands.h"
#include "kernels/simd/transpose.h"
#include "kernels/simd/winograd/winograd_axis.h"
#ifdef OPERANDS_ARE_PAIRS
#include "kernels/simd/winograd/direct_weights.h"
#endif

#define CASES_OF_WEIGHTS(...) CASES_OF_KIND(__VA_ARGS__) CASE_OF(CONV_DIRECT, __VA_ARGS__)

/* Loads the 3x3 kernels of `lanes` channels, `step` numbers apart, into `taps`: one vector per tap,
 * one lane per channel. The remaining lanes become 0. */
INLINE void load_kernels(vreal taps[TAPS], const real *w, size_t step, int lanes)
{
#pragma GCC unroll 5
    for (int first = 0; first < TAPS; first += VECTOR_LANES) {
        vreal rows[VECTOR_LANES];
        const int count = TAPS - first < VECTOR_LANES ? TAPS - first : VECTOR_LANES;
#pragma GCC unroll 16
        for (int l = 0; l < VECTOR_LANES; l++)
            rows[l] =
                l < lanes ? vreal_load_first(w + (size_t)l * step + first, count) : (vreal){0};
        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < count; i++)
            taps[first + i] = rows[i];
    }
}

/* Stores `taps` in the 3x3 kernels of `lanes` channels or, if `add`, adds `taps` to the kernels. */
INLINE void store_kernels(real *w, size_t step, int lanes, const vreal taps[TAPS], bool add)
{
#pragma GCC unroll 5
    for (int first = 0; first < TAPS; first += VECTOR_LANES) {
        vreal rows[VECTOR_LANES];
        const int count = TAPS - first < VECTOR_LANES ? TAPS - first : VECTOR_LANES;
#pragma GCC unroll 16
        for (int i = 0; i < VECTOR_LANES; i++)
            rows[i] = i < count ? taps[first + i] : (vreal){0};
        transpose(rows);
#pragma GCC unroll 16
        for (int l = 0; l < VECTOR_LANES; l++) {
            real *to = w + (size_t)l * step + first;
            if (l < lanes)
                vreal_store_first(to, add ? vreal_load_first(to, count) + rows[l] : rows[l], count);
        }
    }
}

/* Transforms 3x3 kernels along both axes. If `kind` is CONV_DIRECT, copies the 9 taps instead.
 * Point or tap i is stored at u + i * plane. */
INLINE void store_points(int kind, real *u, size_t plane, const vreal taps[TAPS])
{
    if (kind == CONV_DIRECT) {
#pragma GCC unroll 9
        for (int t = 0; t < TAPS; t++)
            vreal_store(u + (size_t)t * plane, taps[t]);
        return;
    }
    const int points = axis_points(kind);
    vreal half[3][WINOGRAD_POINTS_MAX];
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++)
        axis_weights(kind, half[r], taps + 3 * r);
#pragma GCC unroll 6
    for (int j = 0; j < points; j++) {
        vreal column[3] = {half[0][j], half[1][j], half[2][j]}, out[WINOGRAD_POINTS_MAX];
        axis_weights(kind, out, column);
#pragma GCC unroll 6
        for (int i = 0; i < points; i++)
            vreal_store(u + (size_t)(i * points + j) * plane, out[i]);
    }
}

INLINE vreal sum_parts(const real *u, int parts, size_t stride)
{
    vreal sum = vreal_load(u);
    for (int i = 1; i < parts; i++)
        sum += vreal_load(u + (size_t)i * stride);
    return sum;
}

INLINE void load_points(int kind, vreal taps[TAPS], const real *u, size_t plane, int parts,
                        size_t stride)
{
    if (kind == CONV_DIRECT) {
#pragma GCC unroll 9
        for (int t = 0; t < TAPS; t++)
            taps[t] = sum_parts(u + (size_t)t * plane, parts, stride);
        return;
    }
    const int points = axis_points(kind);
    vreal half[3][WINOGRAD_POINTS_MAX];
#pragma GCC unroll 6
    for (int j = 0; j < points; j++) {
        vreal column[WINOGRAD_POINTS_MAX], out[3];
#pragma GCC unroll 6
        for (int i = 0; i < points; i++)
            column[i] = sum_parts(u + (size_t)(i * points + j) * plane, parts, stride);
        axis_weights_adjoint(kind, out, column);
        half[0][j] = out[0];
        half[1][j] = out[1];
        half[2][j] = out[2];
    }
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++)
        axis_weights_adjoint(kind, taps + 3 * r, half[r]);
}

/* Prefetch distance in rows, if a row's kernels are adjacent. Rows are then too short and too far
 * apart for the processor's own prefetching. */
#define ROWS_AHEAD 6

/* Prefetch distance in numbers, if a row's kernels are far apart. Each lane then reads or writes
 * its own stream of numbers. */
#define NUMBERS_AHEAD 128

INLINE void prefetch_row(const real *from, int lanes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < (size_t)lanes * TAPS * sizeof(real); at += LINE)
        __builtin_prefetch((const char *)from + at, 0, 3);
}

#ifdef OPERANDS_ARE_PAIRS

enum { POINTS_MAX = WINOGRAD_POINTS_MAX * WINOGRAD_POINTS_MAX };

/* Computes and stores two rows of U, the transformed weights (winograd.h). If only one row exists,
 * the second is zero. */
INLINE void transform_rows(int kind, real *u, size_t plane, const real *from, size_t column_step,
                           int lanes, int rows, size_t row_step)
{
    const int points = kind == CONV_DIRECT ? TAPS : axis_points(kind) * axis_points(kind);
    real both[PAIR][POINTS_MAX][VECTOR_LANES] __attribute__((aligned(VECTOR_BYTES)));
    for (int r = 0; r < PAIR; r++, from += row_step) {
        vreal taps[TAPS] = {0};
        if (r < rows)
            load_kernels(taps, from, column_step, lanes);
        store_points(kind, both[r][0], VECTOR_LANES, taps);
    }
    for (int p = 0; p < points; p++)
        operand_store_pairs(u + (size_t)p * plane, vreal_load(both[0][p]), vreal_load(both[1][p]));
}

#else

INLINE void transform_rows(int kind, real *u, size_t plane, const real *from, size_t column_step,
                           int lanes, int rows, size_t row_step)
{
    vreal taps[TAPS];
    load_kernels(taps, from, column_step, lanes);
    store_points(kind, u, plane, taps);
}

#endif

INLINE void prefetch_streams(const real *from, size_t step, int lanes)
{
    for (int l = 0; l < lanes; l++)
        __builtin_prefetch(from + (size_t)l * step + NUMBERS_AHEAD, 0, 3);
}

/* Computes `count` rows of a panel of U (the transformed weights) or of the transpose of U, for one
 * vector of channels. */
INLINE void transform_half(int kind, real *u, size_t plane, const real *from, size_t column_step,
                           int lanes, int count, size_t row_step)
{
    for (int row = 0; row < count; row += PAIR, u += BLOCK, from += PAIR * row_step) {
        for (int r = 0; column_step == TAPS && r < PAIR; r++)
            prefetch_row(from + (size_t)(ROWS_AHEAD + r) * row_step, lanes);
        if (column_step != TAPS)
            prefetch_streams(from, column_step, lanes);
        transform_rows(kind, u, plane, from, column_step, lanes, count - row, row_step);
    }
}

/* Computes `count` rows of a panel of U or of the transpose of U. Columns are the channels of block
 * `at`: output channels for U, input channels for the transpose. In `weights`, columns are
 * column_step numbers apart, and rows are row_step numbers apart. `columns`: number of channels in
 * all blocks. */
INLINE void transform_panel(int kind, const struct winograd *w, int at, real *u,
                            const real *weights, int columns, size_t column_step, int count,
                            size_t row_step)
{
    size_t plane = winograd_spread(BLOCK, operand_steps(count));
    for (int half = 0; half < 2; half++) {
        int first = at * w->block + half * VECTOR_LANES, lanes = columns - first;
        lanes = lanes < 0 ? 0 : lanes > VECTOR_LANES ? VECTOR_LANES : lanes;
        const real *from = weights + (size_t)first * column_step;
        real *to = u + half * VECTOR_LANES;
        if (lanes == VECTOR_LANES)
            transform_half(kind, to, plane, from, column_step, VECTOR_LANES, count, row_step);
        else
            transform_half(kind, to, plane, from, column_step, lanes, count, row_step);
    }
}

static void transform(const struct winograd *w, int at, int first, int count, real *u,
                      const real *weights)
{
    size_t kernel = TAPS, all = TAPS * (size_t)w->in_c;
#ifdef OPERANDS_ARE_PAIRS
    if (w->kind == CONV_DIRECT) {
        direct_transform(w, at, first, count, u, weights);
        return;
    }
#endif
    weights += (size_t)first * kernel;
    switch (w->kind) {
        CASES_OF_WEIGHTS(transform_panel, w, at, u, weights, w->out_c, all, count, kernel)
    }
}

static void transform_transposed(const struct winograd *w, int at, int first, int count, real *u,
                                 const real *weights)
{
    size_t kernel = TAPS, all = TAPS * (size_t)w->in_c;
#ifdef OPERANDS_ARE_PAIRS
    if (w->kind == CONV_DIRECT) {
        direct_transform_transposed(w, at, first, count, u, weights);
        return;
    }
#endif
    weights += (size_t)first * all;
    switch (w->kind) {
        CASES_OF_WEIGHTS(transform_panel, w, at, u, weights, w->in_c, kernel, count, all)
    }
}

/* Computes the weight gradients of a direct convolution (+=, if `add`) for VECTOR_LANES output
 * channels, which are `step` numbers apart, and as many input channels. The kernels of neighbouring
 * input channels are adjacent, so whole vectors are stored. */
INLINE void adjoint_square(const real *du, size_t plane, real *to, size_t step, int parts,
                           size_t stride, bool add)
{
    for (int first = 0; first < VECTOR_LANES * TAPS; first += VECTOR_LANES) {
        vreal rows[VECTOR_LANES];
#pragma GCC unroll 16
        for (int i = 0; i < VECTOR_LANES; i++) {
            size_t channel = (size_t)(first + i) / TAPS, tap = (size_t)(first + i) % TAPS;
            rows[i] = sum_parts(du + tap * plane + channel * BLOCK, parts, stride);
        }
        transpose(rows);
#pragma GCC unroll 16
        for (int l = 0; l < VECTOR_LANES; l++) {
            real *at = to + (size_t)l * step + first;
            vreal_store(at, add ? vreal_load(at) + rows[l] : rows[l]);
        }
    }
}

/* Computes the gradients of the weights for one vector of output channels. */
INLINE void adjoint_half(int kind, const real *du, size_t plane, real *to, size_t step, int lanes,
                         int count, int parts, size_t stride, bool add)
{
    int row = 0;
    for (; kind == CONV_DIRECT && lanes == VECTOR_LANES && row + VECTOR_LANES <= count;
         row += VECTOR_LANES, to += VECTOR_LANES * TAPS, du += VECTOR_LANES * BLOCK)
        adjoint_square(du, plane, to, step, parts, stride, add);
    for (; row < count; row++, to += TAPS, du += BLOCK) {
        vreal taps[TAPS];
        prefetch_streams(to, step, lanes);
        load_points(kind, taps, du, plane, parts, stride);
        store_kernels(to, step, lanes, taps, add);
    }
}

INLINE void adjoint_panel(int kind, const struct winograd *w, int at, int count, real *dweights,
                          const real *du, int parts, size_t stride, bool add)
{
    size_t plane = winograd_spread(BLOCK, count), step = TAPS * (size_t)w->in_c;
    for (int half = 0; half < 2; half++) {
        int first = at * w->block + half * VECTOR_LANES, lanes = w->out_c - first;
        if (lanes <= 0)
            break;
        real *to = dweights + (size_t)first * step;
        const real *from = du + half * VECTOR_LANES;
        if (lanes >= VECTOR_LANES)
            adjoint_half(kind, from, plane, to, step, VECTOR_LANES, count, parts, stride, add);
        else
            adjoint_half(kind, from, plane, to, step, lanes, count, parts, stride, add);
    }
}

static void adjoint(const struct winograd *w, int at, int first, int count, real *dweights,
                    const real *du, int parts, size_t stride, bool add)
{
    dweights += (size_t)first * TAPS;
    switch (w->kind) {
        CASES_OF_WEIGHTS(adjoint_panel, w, at, count, dweights, du, parts, stride, add)
    }
}

const struct winograd_weights SIMD_NAME(winograd_weights) = {
    .transform = transform,
    .transform_transposed = transform_transposed,
    .adjoint = adjoint,
};
