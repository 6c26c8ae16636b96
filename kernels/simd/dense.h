/* Operands and results of a dense layer's products (op_dense.c). Matrices have rows `ld` numbers
 * apart; blocks are as in the products of simd/winograd.h. Compiled once per instruction set. In
 * sets that round operands, these are bf16, two in the room of a real. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/real.h"

struct dense_functions {
    int block, pair; /* columns per block; operands in the room of a real */
    /* to [rows, block] <- from [rows, columns], columns <= block; the rest is 0. */
    void (*rows)(real *to, const real *from, size_t ld, int rows, int columns);
    /* to [columns/pair, block, pair] <- from [rows, columns] transposed, rows <= block. An odd
     * number of columns is padded with zeros. */
    void (*turned)(real *to, const real *from, size_t ld, int rows, int columns);
    /* to [rows, columns] <- or += from [rows, block] + bias [columns], unless bias is NULL. from
     * holds reals. */
    void (*store)(real *to, size_t ld, const real *from, int rows, int columns, const real *bias,
                  bool add);
};
