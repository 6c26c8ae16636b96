/* Operands and results of a dense layer's products (op_dense.c). Rows of a matrix are `ld` numbers
 * apart. Blocks and operands are as in simd/winograd/winograd.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/real.h"

struct dense_functions {
    int block, pair; /* columns per block; operands per real (2 for bf16) */
    /* Copies rows to operands: to [rows, block] <- from [rows, columns], columns <= block. Rows of
     * `to` are filled up with zeros. */
    void (*rows)(real *to, const real *from, size_t ld, int rows, int columns);
    /* Transposes to operands: to [columns/pair, block, pair] <- from [rows, columns], rows <=
     * block. Rows are filled up to `block` with zeros. If pair = 2 and `columns` is odd, a column
     * of zeros is added. */
    void (*transposed)(real *to, const real *from, size_t ld, int rows, int columns);
    /* Stores results: to [rows, columns] <- from [rows, block] + bias [columns]; += if `add`. bias
     * NULL: no bias. `from` holds reals, not operands. */
    void (*store)(real *to, size_t ld, const real *from, int rows, int columns, const real *bias,
                  bool add);
};
