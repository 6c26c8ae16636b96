/* The arithmetic of communication on this rank's own memory. Everything comm adds, copies, casts or
 * selects goes through here, so that a simulated clock can charge it (gamma). */
#ifndef SCALEBENCH_COMM_LOCAL_OPS_H
#define SCALEBENCH_COMM_LOCAL_OPS_H

#include <stddef.h>

#include "kernels/base/real.h"
#include "kernels/kernels.h"

/* Sum of squares of x [n], in double. */
double local_norm2(const struct exec *ex, const real *x, size_t n);

/* Sum of products of x and y, both [n], in double; local_dot(y, x) has the same bits. */
double local_dot(const struct exec *ex, const real *x, const real *y, size_t n);

/* y = a y + b x, both [n], rounded after each operation. */
void local_combine(const struct exec *ex, real *y, real a, const real *x, real b, size_t n);

/* y += x, both [n]. */
void local_add(const struct exec *ex, real *y, const real *x, size_t n);

/* y[i] = x[0][i] + ... + x[terms - 1][i], added in this order, for i in [begin, end); y is none of
 * x [terms]. */
void local_sum(const struct exec *ex, real *y, const real *const *x, int terms, size_t begin,
               size_t end);

/* The two do not overlap. */
void local_copy(const struct exec *ex, void *to, const void *from, size_t bytes);

/* x [n] *= factor */
void local_scale(const struct exec *ex, real *x, size_t n, real factor);

#endif
