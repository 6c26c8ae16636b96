/* Arithmetic of communication on this rank's own memory. comm adds, copies, casts and selects
 * numbers only through these functions, so that a simulated clock can charge the work (gamma). */
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

/* Returns the sum of products of x and y, both [n], in double. local_dot(y, x) has the same
 * bits. */
double local_dot(const struct exec *ex, const real *x, const real *y, size_t n);

/* y = a y + b x, both [n], rounded after each operation. */
void local_combine(const struct exec *ex, real *y, real a, const real *x, real b, size_t n);

/* y += x, both [n]. */
void local_add(const struct exec *ex, real *y, const real *x, size_t n);

/* y[i] = x[0][i] + ... + x[terms - 1][i], added in this order, for i in [begin, end). y may be
 * one of x [terms]. */
void local_sum(const struct exec *ex, real *y, const real *const *x, int terms, size_t begin,
               size_t end);

/* Copies `bytes` to `to`, which must not overlap `from`. */
void local_copy(const struct exec *ex, void *to, const void *from, size_t bytes);

/* x [n] *= factor */
void local_scale(const struct exec *ex, real *x, size_t n, real factor);

/* Limits x [n] to [-most, most]. NaN stays NaN. */
void local_clamp(const struct exec *ex, real *x, size_t n, real most);

/* y[i] = value, n times */
void local_fill(const struct exec *ex, real *y, size_t n, real value);

/* ---- For compressors, in local_compress.c and local_low_rank.c ---- */

/* Returns the conversion to 16 bits for `precision` by instruction set `isa`; NULL for fp32. */
const struct cast16 *local_cast16(enum precision precision, enum isa isa);

/* Convert n numbers and multiply them by scale: encode writes 16 bits to y, decode reads 16
 * bits, add adds decoded numbers to y. */
void local_encode16(const struct exec *ex, const struct cast16 *cast, uint16_t *y, const real *x,
                    size_t n, float scale);
void local_decode16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                    size_t n, float scale);
void local_add16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                 size_t n, float scale);

/* Rounds x [n] to 16 bits, then multiplies it by scale. */
void local_round16(const struct exec *ex, const struct cast16 *cast, real *x, size_t n,
                   float scale);

/* Returns whether all of x [n] are finite. */
bool local_is_finite(const struct exec *ex, const real *x, size_t n);

/* Moves the k <= n numbers of largest magnitude out of x [n], where they become 0. Writes values
 * [k] and places [k] in ascending order of place. Of equal numbers the first is taken; NaN
 * counts as largest. */
void local_take_largest(const struct exec *ex, real *x, size_t n, size_t k, real *values,
                        uint32_t *places);

/* y[places[i]] += values[i], for i in [0, k) */
void local_add_at(const struct exec *ex, real *y, const real *values, const uint32_t *places,
                  size_t k);

/* Returns the sum of magnitudes of x [n]. */
double local_norm1(const struct exec *ex, const real *x, size_t n);

/* Sets bits [at, at + n) to the signs of x [n], 1 for negative, and subtracts from each number
 * its decoded value: scale, or -scale if negative. */
void local_take_signs(const struct exec *ex, real *x, size_t n, real scale, uint64_t *bits,
                      size_t at);

/* y [n] += scale, or -scale where the bit is 1. `bits` as written by local_take_signs. */
void local_add_signs(const struct exec *ex, real *y, size_t n, real scale, const uint64_t *bits,
                     size_t at);

/* p = m q, or q = m p, with m transposed as needed: m [rows][columns], factors p [rank][side]
 * and q [rank][other]. p belongs to the shorter side of m. */
void local_low_rank_p(const struct exec *ex, const struct low_rank *shape, real *p, const real *m,
                      const real *q);
void local_low_rank_q(const struct exec *ex, const struct low_rank *shape, real *q, const real *m,
                      const real *p);
/* Writes to m, or subtracts from m, the sum of the outer products of the vectors of p and q. */
void local_low_rank_product(const struct exec *ex, const struct low_rank *shape, real *m,
                            const real *p, const real *q);
void local_low_rank_subtract(const struct exec *ex, const struct low_rank *shape, real *m,
                             const real *p, const real *q);

/* Replaces p [rank][n], rank <= n, by an orthonormal basis of the span of its vectors. Dependent
 * vectors are replaced by other orthonormal ones. Equal p give equal bits. */
void local_orthonormalize(const struct exec *ex, real *p, size_t n, size_t rank);
