/* A small dense layer, as functions of one thread. Compiled once for every instruction set;
 * kernels/ops/op_small_dense.c says what it is for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Numbers of the widest vector: rows are padded to a multiple of it. */
#define SMALL_DENSE_PAD (64 / (int)sizeof(real))
/* Numbers of a row that are summed together. */
#define SMALL_DENSE_TILE (4 * SMALL_DENSE_PAD)

/* A matrix [rows][stride]; what lies beyond a row's `columns` numbers may be anything, but is
 * read. */
struct small_matrix {
    const real *data;
    size_t columns, stride;
};

/* Which rows, and what each is multiplied with. */
struct small_list {
    real *values;
    uint32_t *rows;
    size_t n;
};

struct small_dense_functions {
    /* to [columns of m][stride] <- m of `rows` rows, which then are columns. */
    void (*transpose)(const struct small_matrix *m, size_t rows, real *to, size_t stride);
    /* What is not zero of x [n]. The list holds a vector more than n. */
    void (*list)(struct small_list *list, const real *x, size_t n);
    /* y [n] <- y, 0 where it is below (with relu) or where keep (or NULL) is 0, else times scale.
     * NaN that is kept stays NaN. */
    void (*finish)(real *y, const uint8_t *keep, size_t n, bool relu, real scale);
    /* sums [columns, from first, at most SMALL_DENSE_TILE] += the listed rows times their
     * values. */
    void (*add_rows)(const struct small_matrix *m, const struct small_list *list, size_t first,
                     real *sums);
};
