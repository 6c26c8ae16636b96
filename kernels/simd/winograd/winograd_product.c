/* Matrix products (winograd.h), with AMX tiles if the instruction set has them, else with
 * vectors. */
#include "kernels/simd/operands.h"
#include "kernels/simd/winograd/winograd.h"

#ifdef OPERANDS_FILL_TILES
#include "kernels/simd/winograd/by_tiles.h"
#else
#include "kernels/simd/winograd/by_vectors.h"
#endif

#ifdef OPERANDS_ARE_PAIRS
/* Interleaves pairs of rows. Both rows of a pair are read before writing, because `to` may equal
 * `from`. */
static void pair_rows(real *to, const real *from, int rows)
{
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40,
                                         8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(ROW));
    for (int r = 0; r < rows; r += 2, from += BLOCK, to += BLOCK) {
        __m512i a = _mm512_loadu_si512(from), b = _mm512_setzero_si512();
        if (r + 1 < rows)
            b = _mm512_loadu_si512(from + ROW);
        _mm512_storeu_si512(to, _mm512_permutex2var_epi16(a, low, b));
        _mm512_storeu_si512(to + ROW, _mm512_permutex2var_epi16(a, high, b));
    }
}
#else
#define pair_rows NULL
#endif

const struct winograd_product SIMD_NAME(winograd_product) = {
    .rows = product_rows,
    .columns = product_columns,
    .pair = pair_rows,
};
