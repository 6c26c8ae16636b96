/* Functions `row` and `taps` of struct winograd_product: sums of a direct 3x3 convolution over
 * several taps, with AMX tiles. To load a tile from a second-level cache takes longer than to
 * multiply it, so each loaded tile serves several products. */
#pragma once

#include "kernels/simd/winograd/by_tiles.h"

/* Loads the weights of one tap and one block of input channels to the right tiles. steps: number of
 * pairs of input channels. room: TILE_ROWS * BLOCK reals, used if the block is not full. */
INLINE void load_tap(real *room, const real *panel, int steps)
{
    const real *right = fill_up(room, panel, steps);
    TILE_LOAD(RIGHT_0, right, BLOCK_BYTES);
    TILE_LOAD(RIGHT_1, right + VECTOR_LANES, BLOCK_BYTES);
}

#define ADD_UPPER(left)                                                                            \
    do {                                                                                           \
        TILE_ADD_PRODUCT(SUM_00, left, RIGHT_0);                                                   \
        TILE_ADD_PRODUCT(SUM_01, left, RIGHT_1);                                                   \
    } while (0)
#define ADD_LOWER(left)                                                                            \
    do {                                                                                           \
        TILE_ADD_PRODUCT(SUM_10, left, RIGHT_0);                                                   \
        TILE_ADD_PRODUCT(SUM_11, left, RIGHT_1);                                                   \
    } while (0)

/* Returns which of the four input columns that two neighbouring positions meet are not padding: bit
 * u is set for column `first` + u. */
INLINE unsigned columns_met(const struct direct_rows *r, int first)
{
    unsigned met = 0;
    for (int u = 0; u < 4; u++)
        met |= (unsigned)(first + u >= 0 && first + u < r->in_columns) << u;
    return met;
}

/* Adds the products of one line and one block of input channels to the sums of two neighbouring
 * positions: the upper tiles of sums for the first, the lower for the second. in: address of the
 * first of four input columns, which is bit 0 of `met`. Each of the two middle columns is loaded
 * once and serves two taps. */
INLINE void add_taps(const real *in, size_t plane, unsigned met, const real *panel, ptrdiff_t tap,
                     int steps)
{
    real room[TILE_ROWS * BLOCK] __attribute__((aligned(VECTOR_BYTES)));
    load_tap(room, panel, steps);
    if (met & 1) {
        TILE_LOAD(LEFT_0, in, TILE_BYTES);
        ADD_UPPER(LEFT_0);
    }
    if (met & 2) {
        TILE_LOAD(LEFT_1, in + plane, TILE_BYTES);
        ADD_LOWER(LEFT_1);
    }
    load_tap(room, panel + tap, steps);
    if (met & 2)
        ADD_UPPER(LEFT_1);
    if (met & 4) {
        TILE_LOAD(LEFT_0, in + 2 * plane, TILE_BYTES);
        ADD_LOWER(LEFT_0);
    }
    load_tap(room, panel + 2 * tap, steps);
    if (met & 4)
        ADD_UPPER(LEFT_0);
    if (met & 8) {
        TILE_LOAD(LEFT_1, in + 3 * plane, TILE_BYTES);
        ADD_LOWER(LEFT_1);
    }
}

/* Computes c [2, images, block]: positions `at` and at + 1 of up to 16 images, from `image` on.
 * Positions are c_plane reals apart in c. A position beyond the row is computed, but not stored. */
INLINE void two_positions(real *c, size_t c_plane, const struct direct_rows *r, int at,
                          size_t image, int k)
{
    int first = r->origin + at;
    unsigned met = columns_met(r, first);
    zero_sums(1);
    for (int l = 0; l < r->lines; l++) {
        const real *in = r->in[l] + (ptrdiff_t)r->plane * first + (ptrdiff_t)(image * ROW),
                   *panel = r->panel[l];
        for (int todo = k; todo > 0; todo -= BLOCK, in += r->in_block, panel += ROW * BLOCK)
            add_taps(in, r->plane, met, panel, r->tap, operand_steps(todo < BLOCK ? todo : BLOCK));
    }
    TILE_STORE(SUM_00, c, BLOCK_BYTES);
    TILE_STORE(SUM_01, c + VECTOR_LANES, BLOCK_BYTES);
    if (at + 1 >= r->columns)
        return;
    TILE_STORE(SUM_10, c + c_plane, BLOCK_BYTES);
    TILE_STORE(SUM_11, c + c_plane + VECTOR_LANES, BLOCK_BYTES);
}

static void direct_row(real *c, const struct direct_rows *r, int n, int k)
{
    size_t c_plane = (size_t)n * BLOCK;
    for (int image = 0, shaped = 0; image < n; image += TILE_ROWS, c += TILE_ROWS * BLOCK) {
        int taken = n - image < TILE_ROWS ? n - image : TILE_ROWS;
        if (taken != shaped)
            shape_rows(taken, taken);
        shaped = taken;
        for (int at = 0; at < r->columns; at += 2)
            two_positions(c + (size_t)at * c_plane, c_plane, r, at, (size_t)image, k);
    }
    TILE_RELEASE();
}

/* Tile numbers for sums over positions: the sums of the three taps of a kernel row, inputs of three
 * neighbouring columns, and two right operands. */
#define TAP_0 0
#define TAP_1 1
#define TAP_2 2
#define IN_0  3
#define IN_1  4
#define IN_2  5
#define OUT_0 6
#define OUT_1 7

/* Adds the products of position `at` to the sums of the three taps. The inputs of taps 0 and 1 are
 * already in tiles in_0 and in_1. Loads the input of tap 2 to in_2, and the right operand to
 * out_tile. Uses r, in and out of the caller. */
#define ADD_POSITION(in_0, in_1, in_2, out_tile, at)                                               \
    do {                                                                                           \
        unsigned met = columns_met(r, r->origin + (at));                                           \
        TILE_LOAD(out_tile, out + (size_t)(at)*r->plane, BLOCK_BYTES);                             \
        if (met & 4)                                                                               \
            TILE_LOAD(in_2, in + (ptrdiff_t)r->plane * ((at) + 2), TILE_BYTES);                    \
        if (met & 1)                                                                               \
            TILE_ADD_PRODUCT(TAP_0, in_0, out_tile);                                               \
        if (met & 2)                                                                               \
            TILE_ADD_PRODUCT(TAP_1, in_1, out_tile);                                               \
        if (met & 4)                                                                               \
            TILE_ADD_PRODUCT(TAP_2, in_2, out_tile);                                               \
    } while (0)

/* Adds the products of a row of positions for 32 images. in: address of input column r->origin,
 * which may be padding. out: right operand of position 0. */
INLINE void add_positions(const struct direct_rows *r, const real *in, const real *out)
{
    unsigned first = columns_met(r, r->origin);
    if (first & 1)
        TILE_LOAD(IN_0, in, TILE_BYTES);
    if (first & 2)
        TILE_LOAD(IN_1, in + r->plane, TILE_BYTES);
    for (int at = 0; at < r->columns; at += 3) {
        ADD_POSITION(IN_0, IN_1, IN_2, OUT_0, at);
        if (at + 1 < r->columns)
            ADD_POSITION(IN_1, IN_2, IN_0, OUT_1, at + 1);
        if (at + 2 < r->columns)
            ADD_POSITION(IN_2, IN_0, IN_1, OUT_0, at + 2);
    }
}

/* Computes the sums of up to 16 input channels and 16 output channels for three taps (+=, if
 * `add`). n: number of images, padded with zeros to a multiple of 32. */
INLINE void three_taps(real *c, const struct direct_rows *r, const real *in, const real *out, int n,
                       bool add)
{
    if (add) {
        TILE_LOAD(TAP_0, c, BLOCK_BYTES);
        TILE_LOAD(TAP_1, c + r->tap, BLOCK_BYTES);
        TILE_LOAD(TAP_2, c + 2 * r->tap, BLOCK_BYTES);
    } else {
        TILE_ZERO(TAP_0);
        TILE_ZERO(TAP_1);
        TILE_ZERO(TAP_2);
    }
    for (int l = 0; l < r->lines; l++) {
        const real *in_row = in + (ptrdiff_t)r->plane * (l * r->in_columns + r->origin),
                   *out_row = out + r->plane * (size_t)(l * r->columns);
        for (int image = 0; image < n;
             image += ROWS_MAX, in_row += ROWS_MAX * ROW, out_row += ROWS_MAX * ROW)
            add_positions(r, in_row, out_row);
    }
    TILE_STORE(TAP_0, c, BLOCK_BYTES);
    TILE_STORE(TAP_1, c + r->tap, BLOCK_BYTES);
    TILE_STORE(TAP_2, c + 2 * r->tap, BLOCK_BYTES);
}

/* Configures the AMX tile registers for sums with `channels` rows. */
static void shape_taps(int channels)
{
    struct tile_shapes shapes = tiles_whole();
    for (int t = 0; t < OUT_0; t++)
        shapes.rows[t] = (uint8_t)channels;
    TILE_SHAPE(&shapes);
}

static void direct_taps(real *c, const struct direct_rows *r, int channels, int n, bool add)
{
    const real *in = r->in[0];
    for (int first = 0, shaped = 0; first < channels;
         first += TILE_ROWS, c += TILE_ROWS * BLOCK, in += TILE_ROWS * ROW) {
        int taken = channels - first < TILE_ROWS ? channels - first : TILE_ROWS;
        if (taken != shaped)
            shape_taps(taken);
        shaped = taken;
        three_taps(c, r, in, r->out, n, add);
        three_taps(c + VECTOR_LANES, r, in, r->out + VECTOR_LANES, n, add);
    }
    TILE_RELEASE();
}
