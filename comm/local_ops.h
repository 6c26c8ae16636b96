/* Arithmetic on this rank's memory for communication. In a step, code in comm adds, copies, casts
 * and selects numbers only through these functions, so that a simulated clock can charge for the
 * work (gamma in cost models). */
#pragma once

#include <stddef.h>

#include "comm/cost/cost.h"
#include "kernels/base/exec.h"
#include "kernels/base/real.h"
#include "kernels/cast16.h"

static inline void local_charge_bytes(const struct exec *ex, size_t bytes)
{
    if (ex->charge != NULL)
        ex->charge(ex->charge_arg, WORK_BYTE, (double)bytes);
}

/* Returns the sum of squares of x [n], in double. */
double local_norm2(const struct exec *ex, const real *x, size_t n);

/* Returns the dot product of x [n] and y [n], in double. Swapping x and y gives the same bits. */
double local_dot(const struct exec *ex, const real *x, const real *y, size_t n);

/* y = a y + b x, for x [n], y [n]. Each operation is rounded (no fused multiply-add). */
void local_combine(const struct exec *ex, real *y, real a, const real *x, real b, size_t n);

/* y += x, for x [n], y [n] */
void local_add(const struct exec *ex, real *y, const real *x, size_t n);

/* y[i] = x[0][i] + ... + x[terms - 1][i], added in this order, for i in [begin, end). y may be
 * one of x [terms]. */
void local_sum(const struct exec *ex, real *y, const real *const *x, int terms, size_t begin,
               size_t end);

/* Copies `bytes` bytes; `to` must not overlap `from`. */
void local_copy(const struct exec *ex, void *to, const void *from, size_t bytes);

/* x *= factor, for x [n] */
void local_scale(const struct exec *ex, real *x, size_t n, real factor);

/* Limits each of x [n] to [-most, most]. NaN stays NaN. */
void local_clamp(const struct exec *ex, real *x, size_t n, real most);

/* y = value, for y [n] */
void local_fill(const struct exec *ex, real *y, size_t n, real value);

/* ---- For compressors, in local_compress.c and local_low_rank.c ---- */

/* Returns the functions of instruction set `isa` that convert numbers to and from the 16-bit format
 * `precision`. Returns NULL for fp32. */
const struct cast16 *local_cast16(enum precision precision, enum isa isa);

/* Convert n numbers between real and the 16-bit format of `cast`. local_encode16 and
 * local_decode16: y = x * scale. local_add16: y += x * scale. */
void local_encode16(const struct exec *ex, const struct cast16 *cast, uint16_t *y, const real *x,
                    size_t n, float scale);
void local_decode16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                    size_t n, float scale);
void local_add16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                 size_t n, float scale);

/* Rounds each number of x [n] to 16 bits, then multiplies the number by `scale`. */
void local_round16(const struct exec *ex, const struct cast16 *cast, real *x, size_t n,
                   float scale);

/* Returns whether all of x [n] are finite. */
bool local_is_finite(const struct exec *ex, const real *x, size_t n);

/* Moves the k <= n numbers of largest magnitude out of x [n], where they become 0. Writes them to
 * values [k] and their indices to places [k], in ascending order of index. Ties: lowest index
 * first. NaN is larger than any number. */
void local_take_largest(const struct exec *ex, real *x, size_t n, size_t k, real *values,
                        uint32_t *places);

/* y[places[i]] += values[i], for i in [0, k) */
void local_add_at(const struct exec *ex, real *y, const real *values, const uint32_t *places,
                  size_t k);

/* Returns the sum of the magnitudes of x [n]. */
double local_norm1(const struct exec *ex, const real *x, size_t n);

/* Sets bits [at, at + n) to the signs of x [n]: 1 if negative. Then subtracts from each number the
 * value of its bit: `scale`, or -`scale` if the bit is 1. */
void local_take_signs(const struct exec *ex, real *x, size_t n, real scale, uint64_t *bits,
                      size_t at);

/* Adds `scale` to each of y [n], or subtracts it if the number's bit is 1. The bits were written by
 * local_take_signs. */
void local_add_signs(const struct exec *ex, real *y, size_t n, real scale, const uint64_t *bits,
                     size_t at);

/* Products of a matrix and a low-rank factor: p[k] = M q[k] (local_low_rank_p) or q[k] = M' p[k]
 * (local_low_rank_q), for all k < rank. M is m [rows][columns], transposed if rows > columns.
 * Shapes: p [rank][shorter side of m], q [rank][longer side of m]. */
void local_low_rank_p(const struct exec *ex, const struct low_rank *shape, real *p, const real *m,
                      const real *q);
void local_low_rank_q(const struct exec *ex, const struct low_rank *shape, real *q, const real *m,
                      const real *p);
/* local_low_rank_product sets m to the sum of the outer products of p[k] and q[k] over all k.
 * local_low_rank_subtract subtracts this sum from m. */
void local_low_rank_product(const struct exec *ex, const struct low_rank *shape, real *m,
                            const real *p, const real *q);
void local_low_rank_subtract(const struct exec *ex, const struct low_rank *shape, real *m,
                             const real *p, const real *q);

/* Replaces the vectors of p [rank][n], rank <= n, by an orthonormal basis of their span. A linearly
 * dependent vector becomes some unit vector orthogonal to the others. The result depends on the
 * bits of p only. */
void local_orthonormalize(const struct exec *ex, real *p, size_t n, size_t rank);
