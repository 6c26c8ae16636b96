/* Matrix products, by BLIS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/real.h"

/* "BLIS 0.9.0 skx": the matrix library and the kernel set it runs with here. */
const char *gemm_library(void);

/* Prepares the matrix library for single-threaded calls from any thread; before any net runs. The
 * kernel set that it asks for, where the library would not choose the best, it leaves in the
 * environment, by which other programs with the same library can ask for it. */
#define GEMM_ARCH_TYPE "BLIS_ARCH_TYPE"
void gemm_init(void);

/* c [m,n] <- a [m,k] * b [k,n], plus c when `add`. Row-major with leading dimensions; a transposed
 * operand is stored as [k,m] or [n,k]. */
struct gemm_operand {
    const real *data;
    size_t ld;
    bool transposed;
};
void gemm(size_t m, size_t n, size_t k, real *c, size_t ldc, struct gemm_operand a,
          struct gemm_operand b, bool add);
