/* Products of winograd.h with AMX tiles. Four tiles hold the sums of 32 rows and a block of
 * columns. Each step multiplies two tiles of A (the left matrix) by two tiles of the panel (the
 * right matrix), which adds 32 terms to each sum. A row of a tile holds 32 numbers of A, or 16
 * pairs of numbers from two rows of the panel. */
#pragma once

#include "kernels/simd/operands.h"
#include "kernels/simd/tiles.h"
#include "kernels/simd/transpose.h"

/* Tile numbers. SUM_rc: row r and column c of the 2 x 2 tiles of sums, each 16 by 16. LEFT: tiles
 * of A. RIGHT: tiles of the panel. */
#define SUM_00  0
#define SUM_01  1
#define SUM_10  2
#define SUM_11  3
#define LEFT_0  4
#define LEFT_1  5
#define RIGHT_0 6
#define RIGHT_1 7

enum { ROWS_MAX = 2 * TILE_ROWS, DEPTH = ROWS_MAX, BLOCK_BYTES = BLOCK * (int)sizeof(real) };

/* Configures the AMX tile registers. upper, lower: number of rows of sums in the first and in the
 * second row of tiles. */
static void shape_rows(int upper, int lower)
{
    struct tile_shapes shapes = tiles_whole();
    shapes.rows[SUM_00] = shapes.rows[SUM_01] = shapes.rows[LEFT_0] = (uint8_t)upper;
    shapes.rows[SUM_10] = shapes.rows[SUM_11] = shapes.rows[LEFT_1] = (uint8_t)lower;
    TILE_SHAPE(&shapes);
}

/* Configures the AMX tile registers for `rows` <= ROWS_MAX rows of sums, which occupy one or two
 * rows of tiles. */
static void shape_tiles(int rows)
{
    shape_rows(rows < TILE_ROWS ? rows : TILE_ROWS,
               rows > TILE_ROWS ? rows - TILE_ROWS : TILE_ROWS);
}

INLINE void zero_sums(int two)
{
    TILE_ZERO(SUM_00);
    TILE_ZERO(SUM_01);
    if (two) {
        TILE_ZERO(SUM_10);
        TILE_ZERO(SUM_11);
    }
}

/* Adds `left` [rows, 32] times `right` [32, block] to the tiles of sums: to both rows of tiles if
 * `two`, otherwise to the first. */
INLINE void add_products(int two, const real *left, const real *right)
{
    TILE_LOAD(RIGHT_0, right, BLOCK_BYTES);
    TILE_LOAD(RIGHT_1, right + VECTOR_LANES, BLOCK_BYTES);
    TILE_LOAD(LEFT_0, left, TILE_BYTES);
    TILE_ADD_PRODUCT(SUM_00, LEFT_0, RIGHT_0);
    TILE_ADD_PRODUCT(SUM_01, LEFT_0, RIGHT_1);
    if (two) {
        TILE_LOAD(LEFT_1, left + TILE_ROWS * ROW, TILE_BYTES);
        TILE_ADD_PRODUCT(SUM_10, LEFT_1, RIGHT_0);
        TILE_ADD_PRODUCT(SUM_11, LEFT_1, RIGHT_1);
    }
}

INLINE void store_tiles(int two, real *c)
{
    TILE_STORE(SUM_00, c, BLOCK_BYTES);
    TILE_STORE(SUM_01, c + VECTOR_LANES, BLOCK_BYTES);
    if (two) {
        TILE_STORE(SUM_10, c + TILE_ROWS * BLOCK, BLOCK_BYTES);
        TILE_STORE(SUM_11, c + TILE_ROWS * BLOCK + VECTOR_LANES, BLOCK_BYTES);
    }
}

INLINE void store_sums(int two, int rows, real *c, bool add)
{
    real sums[ROWS_MAX * BLOCK] __attribute__((aligned(VECTOR_BYTES)));
    store_tiles(two, add ? sums : c);
    if (!add)
        return;
    for (int at = 0; at < rows * BLOCK; at += VECTOR_LANES)
        vreal_store(c + at, vreal_load(c + at) + vreal_load(sums + at));
}

/* Pads `right` [steps][BLOCK] with zero rows to 16 rows. An element is a pair of numbers from two
 * rows of the panel. Returns `right` itself if steps is 16, otherwise a copy in `room`. */
INLINE const real *fill_up(real *room, const real *right, int steps)
{
    size_t numbers = (size_t)steps * BLOCK;
    if (steps == TILE_ROWS)
        return right;
    memcpy(room, right, numbers * sizeof *room);
    memset(room + numbers, 0, (TILE_ROWS * BLOCK - numbers) * sizeof *room);
    return room;
}

INLINE void few_rows(int two, int rows, real *c, const real *const *a, const real *const *b,
                     int count, size_t first, size_t a_stride, int k, int run, bool add)
{
    real room[TILE_ROWS * BLOCK] __attribute__((aligned(VECTOR_BYTES)));
    int terms = 0;
    zero_sums(two);
    for (int i = 0; i < count; i++) {
        const real *left = a[i] + first * ROW, *right = b[i];
        for (int todo = k; todo > 0; todo -= BLOCK, left += a_stride, right += ROW * BLOCK) {
            int taken = todo < BLOCK ? todo : BLOCK;
            if (terms + taken > run) {
                store_sums(two, rows, c, add);
                zero_sums(two);
                terms = 0;
                add = true;
            }
            add_products(two, left, fill_up(room, right, operand_steps(taken)));
            terms += taken;
        }
    }
    store_sums(two, rows, c, add);
}

static void product_rows(real *c, const real *const *a, const real *const *b, int count,
                         size_t a_stride, int rows, int k, int run, bool add)
{
    int shaped = 0;
    for (int first = 0, taken; first < rows; first += taken, c += taken * BLOCK) {
        taken = rows - first < ROWS_MAX ? rows - first : ROWS_MAX;
        if (taken != shaped)
            shape_tiles(shaped = taken);
        if (taken > TILE_ROWS)
            few_rows(1, taken, c, a, b, count, (size_t)first, a_stride, k, run, add);
        else
            few_rows(0, taken, c, a, b, count, (size_t)first, a_stride, k, run, add);
    }
    TILE_RELEASE();
}

/* Transposes `steps` rows of 16 pairs of bf16 numbers into `to` [16, ROW]. Columns of `to` from
 * `steps` on are set to 0. */
INLINE void transpose_pairs(real *to, const real *from, int steps)
{
    vreal square[VECTOR_LANES];
#pragma GCC unroll 16
    for (int i = 0; i < VECTOR_LANES; i++)
        square[i] = i < steps ? vreal_load(from + i * BLOCK) : (vreal){0};
    transpose(square);
#pragma GCC unroll 16
    for (int i = 0; i < VECTOR_LANES; i++)
        vreal_store(to + i * ROW, square[i]);
}

/* `turn` of struct winograd_product: transposes a block, 32 rows at a time, to the left tiles that
 * product_columns loads. Missing rows are 0. */
static void turn_rows(real *to, const real *from, int rows)
{
    real pairs[TILE_ROWS * BLOCK] __attribute__((aligned(VECTOR_BYTES)));
    for (; rows > 0; rows -= ROWS_MAX, from += ROWS_MAX * ROW, to += ROWS_MAX * ROW) {
        int taken = rows < ROWS_MAX ? rows : ROWS_MAX;
        pair_rows(pairs, from, taken);
        transpose_pairs(to, pairs, operand_steps(taken));
        transpose_pairs(to + TILE_ROWS * ROW, pairs + VECTOR_LANES, operand_steps(taken));
    }
}

/* Computes the sums that product_columns describes. `two`: whether c has more than 16 rows. */
INLINE void few_columns(int two, int rows, real *c, const real *const *a, const real *const *b,
                        int count, int k, bool add)
{
    real room[TILE_ROWS * BLOCK] __attribute__((aligned(VECTOR_BYTES)));
    zero_sums(two);
    for (int i = 0; i < count; i++)
        for (int at = 0, todo = operand_steps(k); todo > 0; todo -= TILE_ROWS, at += TILE_ROWS) {
            int steps = todo < TILE_ROWS ? todo : TILE_ROWS;
            add_products(two, a[i] + at * BLOCK, fill_up(room, b[i] + at * BLOCK, steps));
        }
    store_sums(two, rows, c, add);
}

/* `columns` of struct winograd_product. turn_rows has already transposed each a[i], which is one
 * block of columns, so c has at most ROWS_MAX rows. Does not use `next`. */
static void product_columns(real *c, const real *const *a, const real *const *b, int count,
                            int rows, int k, bool add, const real *next)
{
    shape_tiles(rows);
    if (rows > TILE_ROWS)
        few_columns(1, rows, c, a, b, count, k, add);
    else
        few_columns(0, rows, c, a, b, count, k, add);
    TILE_RELEASE();
}
