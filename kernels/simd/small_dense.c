#include "kernels/simd/small_dense.h"

#include "kernels/simd/lanes.h"

/* add_vectors processes CHAINS rows at a time, up to VECTORS vectors of each: 8 accumulators hide
 * the latency of an FMA. */
#define VECTORS 4
#define CHAINS  2

static void list(struct small_list *list, const real *x, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        vreal lanes = vreal_load_first(x + i, n - i);
        found += vreal_append(list->values + found, list->rows + found, vreal_nonzero_bits(lanes),
                              lanes, vint_count_from(i));
    }
    list->n = found;
}

INLINE void add_vectors(const int vectors, const struct small_matrix *m,
                        const struct small_list *list, size_t first, real *sums)
{
    vreal total[CHAINS][VECTORS] = {0};
    const real *from = m->data + first;
    size_t i = 0;
    for (; i + CHAINS <= list->n; i += CHAINS)
        UNROLL
    for (size_t chain = 0; chain < CHAINS; chain++) {
        const real *row = from + list->rows[i + chain] * m->stride;
        vreal value = vreal_all(list->values[i + chain]);
        UNROLL
        for (int v = 0; v < vectors; v++)
            total[chain][v] += value * vreal_load(row + v * VECTOR_LANES);
    }
    for (; i < list->n; i++) {
        const real *row = from + list->rows[i] * m->stride;
        UNROLL
        for (int v = 0; v < vectors; v++)
            total[0][v] += vreal_all(list->values[i]) * vreal_load(row + v * VECTOR_LANES);
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        size_t at = (size_t)(v * VECTOR_LANES), left = m->columns - first - at;
        vreal_store_first(sums + at, vreal_load_first(sums + at, left) + total[0][v] + total[1][v],
                          left);
    }
}

static void add_rows(const struct small_matrix *m, const struct small_list *list, size_t first,
                     real *sums)
{
    size_t end = m->columns - first < SMALL_DENSE_TILE ? m->columns : first + SMALL_DENSE_TILE;
    for (; first < end; first += VECTORS * VECTOR_LANES, sums += VECTORS * VECTOR_LANES) {
        size_t vectors = (end - first + VECTOR_LANES - 1) / VECTOR_LANES;
        switch (vectors < VECTORS ? vectors : VECTORS) {
            CASES_1_TO_4(add_vectors, m, list, first, sums)
        }
    }
}

static void finish(real *y, const uint8_t *keep, size_t n, bool relu, real scale)
{
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        vreal value = vreal_load_first(y + i, n - i);
        if (relu)
            value = vreal_choose(value < 0, vreal_all(0), value);
        if (keep != NULL) {
            uint8_t bytes[VECTOR_LANES] = {0};
            memcpy(bytes, keep + i, n - i < VECTOR_LANES ? n - i : VECTOR_LANES);
            value = vreal_choose(vreal_of_bytes(bytes) != 0, value * scale, vreal_all(0));
        }
        vreal_store_first(y + i, value, n - i);
    }
}

/* Transposes m in squares of VECTOR_LANES rows and columns. The last squares extend into the
 * padding of the rows of `to`. */
static void transpose(const struct small_matrix *m, size_t rows, real *to, size_t stride)
{
    for (size_t column = 0; column < m->columns; column += VECTOR_LANES)
        for (size_t row = 0; row < rows; row += VECTOR_LANES) {
            vreal square[VECTOR_LANES];
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                square[i] = row + i < rows
                                ? vreal_load_first(m->data + (row + i) * m->stride + column,
                                                   m->columns - column)
                                : vreal_all(0);
            vreal_transpose(square);
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                if (column + i < m->columns)
                    vreal_store(to + (column + i) * stride + row, square[i]);
        }
}

const struct small_dense_functions SIMD_NAME(small_dense) = {
    .transpose = transpose,
    .finish = finish,
    .list = list,
    .add_rows = add_rows,
};
