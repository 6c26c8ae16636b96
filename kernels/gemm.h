/* Matrix products, computed by BLIS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/real.h"

/* Returns the names of the matrix library and of the kernel set that it uses on this processor:
 * "BLIS 0.9.0 skx". */
const char *gemm_library(void);

/* Environment variable that selects the kernel set of BLIS. */
#define GEMM_ARCH_TYPE "BLIS_ARCH_TYPE"

/* Prepares the matrix library for single-threaded calls from any thread. Call it before any net
 * runs. If the library would choose a slow kernel set, sets the environment variable
 * GEMM_ARCH_TYPE; a value set by the user takes precedence. Child processes inherit the
 * variable. */
void gemm_init(void);

/* Operand `a` or `b` of gemm. Its stored rows are `ld` numbers apart. If transposed, `a` is stored
 * as [k,m] and `b` as [n,k]. */
struct gemm_operand {
    const real *data;
    size_t ld;
    bool transposed;
};

/* Computes c [m,n] <- a [m,k] * b [k,n], plus c if `add`. Rows of c are ldc numbers apart. */
void gemm(size_t m, size_t n, size_t k, real *c, size_t ldc, struct gemm_operand a,
          struct gemm_operand b, bool add);
