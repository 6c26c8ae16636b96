/* A small dense layer, in one thread; see kernels/ops/op_small_dense.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Number of lanes of the widest vector of all instruction sets. Rows are padded to a multiple of
 * this number. */
#define SMALL_DENSE_PAD (64 / (int)sizeof(real))
/* Largest number of columns that add_rows sums in one call. */
#define SMALL_DENSE_TILE (4 * SMALL_DENSE_PAD)

/* A matrix with rows `stride` numbers apart. Numbers beyond `columns` in a row are read but not
 * used. */
struct small_matrix {
    const real *data;
    size_t columns, stride;
};

/* Rows of a matrix to add up, each times a factor: nonzero factors (`values`) and the indices of
 * their rows (`rows`). */
struct small_list {
    real *values;
    uint32_t *rows;
    size_t n;
};

struct small_dense_functions {
    /* Writes the transpose of matrix m, which has `rows` rows, to `to` [m->columns][stride]. */
    void (*transpose)(const struct small_matrix *m, size_t rows, real *to, size_t stride);
    /* Stores the nonzero numbers of x [n] in list->values, their indices in list->rows and their
     * count in list->n. Both arrays need room for n elements plus one vector. */
    void (*list)(struct small_list *list, const real *x, size_t n);
    /* Applies ReLU (if `relu`) and dropout (unless `keep` is NULL) to y [n]. ReLU keeps NaN.
     * Dropout multiplies kept numbers by `scale` and sets all others to 0. */
    void (*finish)(real *y, const uint8_t *keep, size_t n, bool relu, real scale);
    /* sums += the listed rows, each times its factor, for at most SMALL_DENSE_TILE columns,
     * beginning with column `first`. */
    void (*add_rows)(const struct small_matrix *m, const struct small_list *list, size_t first,
                     real *sums);
};
