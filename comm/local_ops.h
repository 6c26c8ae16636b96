/* The arithmetic of communication on this rank's own memory. Everything comm adds, copies, casts or
 * selects goes through here, so that a simulated clock can charge it (gamma). */
#ifndef SCALEBENCH_COMM_LOCAL_OPS_H
#define SCALEBENCH_COMM_LOCAL_OPS_H

#include <stddef.h>

#include "kernels/base/real.h"
#include "kernels/kernels.h"

/* Sum of squares of x [n], in double. */
double local_norm2(const struct exec *ex, const real *x, size_t n);

#endif
