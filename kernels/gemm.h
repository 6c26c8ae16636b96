/* Matrix products, computed by BLIS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/real.h"

/* Returns the matrix library and the kernel set it uses here: "BLIS 0.9.0 skx". */
const char *gemm_library(void);

/* Prepares the matrix library for single-threaded calls from any thread. Call it before any net
 * runs. If the library would choose a slow kernel set, this names a better one in the environment
 * variable GEMM_ARCH_TYPE. Child processes that use BLIS inherit it. */
#define GEMM_ARCH_TYPE "BLIS_ARCH_TYPE"
void gemm_init(void);

/* Computes c [m,n] <- a [m,k] * b [k,n], plus c if `add`. Row-major with leading dimensions; a
 * transposed operand is stored as [k,m] or [n,k]. */
struct gemm_operand {
    const real *data;
    size_t ld;
    bool transposed;
};
void gemm(size_t m, size_t n, size_t k, real *c, size_t ldc, struct gemm_operand a,
          struct gemm_operand b, bool add);
