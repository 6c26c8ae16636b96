/* Matrix products (winograd.h), with AMX tiles if the instruction set has them, else with
 * vectors. */
#include "kernels/simd/operands.h"
#include "kernels/simd/winograd/winograd.h"

#ifdef OPERANDS_ARE_PAIRS
/* Interleaves pairs of rows. Both rows of a pair are read before writing, because `to` may equal
 * `from`. */
static void pair_rows(real *to, const real *from, int rows)
{
    for (int r = 0; r < rows; r += 2, from += BLOCK, to += BLOCK) {
        vreal a = vreal_load(from), b = r + 1 < rows ? vreal_load(from + ROW) : (vreal){0};
        operand_store_rows(to, a, b);
    }
}
#else
#define pair_rows NULL
#endif

#ifdef OPERANDS_FILL_TILES
#include "kernels/simd/winograd/direct_by_tiles.h"
#else
#include "kernels/simd/winograd/by_vectors.h"
#endif

#ifndef OPERANDS_FILL_TILES
#define turn_rows   pair_rows
#define direct_row  NULL
#define direct_taps NULL
#endif

const struct winograd_product SIMD_NAME(winograd_product) = {
    .rows = product_rows,
    .columns = product_columns,
    .pair = pair_rows,
    .turn = turn_rows,
    .row = direct_row,
    .taps = direct_taps,
    .depth = DEPTH,
};
