/* Copies matrices to operands, by rows or transposed in registers, and stores results: see
 * dense.h. */
#include "kernels/simd/dense.h"

#include "kernels/simd/operands.h"
#include "kernels/simd/transpose.h"

/* Number of operands in a vector. */
enum { IN_VECTOR = PAIR * VECTOR_LANES };

static int at_most(int x, int most)
{
    return x < 0 ? 0 : x < most ? x : most;
}

static void rows_to_operands(real *to, const real *from, size_t ld, int rows, int columns)
{
    for (int r = 0; r < rows; r++, to += ROW, from += ld)
        for (int first = 0; first < BLOCK; first += IN_VECTOR)
            vreal_store(to + first / PAIR,
                        operand_load_row(from + first, at_most(columns - first, IN_VECTOR)));
}

/* Transposes VECTOR_LANES rows of IN_VECTOR columns in registers. Only the first `rows` rows and
 * `columns` columns are read; the others are 0. */
INLINE void transpose_square(real *to, const real *from, size_t ld, int rows, int columns)
{
    vreal square[VECTOR_LANES];
#pragma GCC unroll 16
    for (int r = 0; r < VECTOR_LANES; r++)
        square[r] = operand_load_row(from + (size_t)r * ld, r < rows ? columns : 0);
    transpose(square);
#pragma GCC unroll 16
    for (int i = 0; i < VECTOR_LANES; i++)
        if (i * PAIR < columns)
            vreal_store(to + i * BLOCK, square[i]);
}

static void transposed_to_operands(real *to, const real *from, size_t ld, int rows, int columns)
{
    for (int first = 0; first < columns; first += IN_VECTOR, to += VECTOR_LANES * BLOCK)
        for (int lane = 0; lane < BLOCK; lane += VECTOR_LANES)
            transpose_square(to + lane, from + (size_t)lane * ld + first, ld, rows - lane,
                             at_most(columns - first, IN_VECTOR));
}

static void store(real *to, size_t ld, const real *from, int rows, int columns, const real *bias,
                  bool add)
{
    for (int r = 0; r < rows; r++, to += ld, from += BLOCK)
        for (int lane = 0; lane < columns; lane += VECTOR_LANES) {
            size_t count = (size_t)(columns - lane);
            vreal v = vreal_load(from + lane);
            if (bias != NULL)
                v += vreal_load_first(bias + lane, count);
            if (add)
                v += vreal_load_first(to + lane, count);
            vreal_store_first(to + lane, v, count);
        }
}

const struct dense_functions SIMD_NAME(dense) = {
    .block = BLOCK,
    .pair = PAIR,
    .rows = rows_to_operands,
    .transposed = transposed_to_operands,
    .store = store,
};
