/* Operands and results of a dense layer's products (op_dense.c), between matrices of numbers, whose rows lie
 * `ld` apart, and blocks as simd/winograd.h's products take and give them. Compiled once for every instruction
 * set; in that which rounds operands they are numbers of 16 bits, two in the room of one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/real.h"

struct dense_functions {
    int block, pair; /* columns of a block; operands in the room of a number */
    /* to [rows, block] <- from [rows, columns], a block's at most; the others are 0. */
    void (*rows)(real *to, const real *from, size_t ld, int rows, int columns);
    /* to [columns/pair, block, pair] <- the same of at most a block of rows, which become columns; an odd
     * number of columns is filled up with a zero. */
    void (*turned)(real *to, const real *from, size_t ld, int rows, int columns);
    /* to [rows, columns] <- or += from [rows, block], numbers, plus bias [columns] where that is not NULL. */
    void (*store)(real *to, size_t ld, const real *from, int rows, int columns, const real *bias,
                  bool add);
};
