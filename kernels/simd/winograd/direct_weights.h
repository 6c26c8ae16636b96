/* Panels of bf16 weights for direct 3x3 convolutions. The nine weights of a kernel are adjacent in
 * memory. Whole vectors of weights are therefore loaded and transposed, and taps are selected
 * afterwards. Loading kernel by kernel would fill only 9 of 16 lanes. */
#pragma once

#include "kernels/simd/operands.h"
#include "kernels/simd/transpose.h"
#include "kernels/simd/winograd/winograd.h"

/* For one block of input channels: number of pairs of channels (PAIRS_MAX), and number of weights
 * per output channel (WEIGHTS_MAX). */
enum { PAIRS_MAX = VECTOR_LANES, WEIGHTS_MAX = BLOCK * TAPS };

/* Loads the weights of `channels` <= BLOCK adjacent input channels, for the first `lanes` of
 * VECTOR_LANES output channels, which are `step` numbers apart. Stores pairs [WEIGHTS_MAX / 2,
 * VECTOR_LANES, 2]: vector i holds weights 2i and 2i + 1 of each output channel, rounded to bf16.
 * Weights beyond `channels` and `lanes` are 0. `lanes` may be negative or above VECTOR_LANES. */
INLINE void load_pairs(real *pairs, const real *from, size_t step, int lanes, int channels)
{
    for (int first = 0; first < WEIGHTS_MAX; first += BLOCK, from += BLOCK) {
        vreal rows[VECTOR_LANES];
        int left = channels * TAPS - first;
        int count = channels == BLOCK ? BLOCK : left < 0 ? 0 : left < BLOCK ? left : BLOCK;
#pragma GCC unroll 16
        for (int l = 0; l < VECTOR_LANES; l++)
            rows[l] = l < lanes ? operand_load_row(from + (size_t)l * step, count) : (vreal){0};

        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < VECTOR_LANES; i++, pairs += VECTOR_LANES)
            vreal_store(pairs, rows[i]);
    }
}

/* Returns the weights of tap `tap` for two adjacent input channels: a pair in each lane. pairs: the
 * vectors of load_pairs, from the first of the two channels on. The two weights are nine numbers
 * apart, so one is the first number of its pair in `pairs`, and the other the second. */
INLINE vreal taps_of(const real *pairs, int tap)
{
    enum { SECOND = 0xaaaaaaaa, BITS = 16 };
    const real *at = pairs + tap / 2 * VECTOR_LANES;
    if (tap % 2 == 0)
        return (vreal)_mm512_mask_blend_epi16((__mmask32)SECOND, (__m512i)vreal_load(at),
                                              (__m512i)vreal_load(at + 4 * VECTOR_LANES));
    return (vreal)_mm512_or_si512(
        _mm512_srli_epi32((__m512i)vreal_load(at), BITS),
        _mm512_slli_epi32((__m512i)vreal_load(at + 5 * VECTOR_LANES), BITS));
}

/* Stores the weights of `count` pairs of input channels in u [TAPS, count, VECTOR_LANES, 2]. Taps
 * are `plane` reals apart, pairs of channels BLOCK reals. */
INLINE void store_taps(real *u, size_t plane, const real *pairs, int count)
{
    for (int i = 0; i < count; i++, u += BLOCK, pairs += TAPS * VECTOR_LANES) {
#pragma GCC unroll 9
        for (int t = 0; t < TAPS; t++)
            vreal_store(u + (size_t)t * plane, taps_of(pairs, t));
    }
}

/* Copies the weights of a block of input channels and a vector of output channels (load_pairs) to u
 * (store_taps). Whole blocks have a branch of their own, with constant bounds. */
INLINE void arrange(real *u, size_t plane, const real *from, size_t step, int lanes, int channels)
{
    real pairs[WEIGHTS_MAX / 2 * VECTOR_LANES] __attribute__((aligned(VECTOR_BYTES)));
    if (lanes >= VECTOR_LANES && channels == BLOCK)
        load_pairs(pairs, from, step, VECTOR_LANES, BLOCK);
    else
        load_pairs(pairs, from, step, lanes, channels);
    store_taps(u, plane, pairs, operand_steps(channels));
}

static int at_most(int count, int most)
{
    return count < most ? count : most;
}

/* Computes rows [first, first + count) of panel `at`, as `transform` of winograd_weights does. */
static void direct_transform(const struct winograd *w, int at, int first, int count, real *u,
                             const real *weights)
{
    size_t plane = winograd_spread(BLOCK, operand_steps(count)), step = TAPS * (size_t)w->in_c;
    for (int half = 0; half < BLOCK; half += VECTOR_LANES) {
        int column = at * BLOCK + half;
        const real *from = weights + (size_t)column * step + (size_t)first * TAPS;
        for (int row = 0; row < count; row += BLOCK, from += WEIGHTS_MAX)
            arrange(u + half + row / PAIR * BLOCK, plane, from, step, w->out_c - column,
                    at_most(count - row, BLOCK));
    }
}

/* Transposes a block for one tap: from [pairs of input channels, output channels, 2] to [pairs of
 * output channels, input channels, 2]. `from` has PAIRS_MAX pairs, `to` has `count`; both have
 * BLOCK channels. */
INLINE void swap_channels(real *to, const real *from, int count)
{
    for (int half = 0; half < BLOCK; half += VECTOR_LANES) {
        vreal rows[VECTOR_LANES];
#pragma GCC unroll 16
        for (int i = 0; i < VECTOR_LANES; i++)
            rows[i] = vreal_load(from + i * BLOCK + half);
        transpose(rows);
#pragma GCC unroll 8
        for (int i = 0; i < VECTOR_LANES; i += 2)
            if ((half + i) / 2 < count)
                operand_store_rows(to + (half + i) / 2 * BLOCK, rows[i], rows[i + 1]);
    }
}

/* Computes rows [first, first + count) of the transposed panel `at`, as `transform_transposed` of
 * winograd_weights does. */
static void direct_transform_transposed(const struct winograd *w, int at, int first, int count,
                                        real *u, const real *weights)
{
    enum { OF_TAP = PAIRS_MAX * BLOCK };
    real taps[TAPS * OF_TAP] __attribute__((aligned(VECTOR_BYTES)));
    size_t plane = winograd_spread(BLOCK, operand_steps(count)), step = TAPS * (size_t)w->in_c;
    int channels = at_most(w->in_c - at * BLOCK, BLOCK);
    const real *from = weights + (size_t)first * step + (size_t)at * WEIGHTS_MAX;
    for (int i = operand_steps(channels) * BLOCK; i < OF_TAP && channels < BLOCK; i++)
        for (int t = 0; t < TAPS; t++)
            taps[t * OF_TAP + i] = 0;
    for (int row = 0; row < count; row += BLOCK, from += BLOCK * step, u += PAIRS_MAX * BLOCK) {
        int rows = at_most(count - row, BLOCK);
        arrange(taps, OF_TAP, from, step, rows, channels);
        arrange(taps + VECTOR_LANES, OF_TAP, from + VECTOR_LANES * step, step, rows - VECTOR_LANES,
                channels);
        for (int t = 0; t < TAPS; t++)
            swap_channels(u + (size_t)t * plane, taps + t * OF_TAP, operand_steps(rows));
    }
}
