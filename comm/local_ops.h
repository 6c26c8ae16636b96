/* The arithmetic of communication on this rank's own memory. Everything comm adds, copies, casts or
 * selects goes through here, so that a simulated clock can charge it (gamma). */
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

/* Sum of squares of x [n], in double. */
double local_norm2(const struct exec *ex, const real *x, size_t n);

/* Sum of products of x and y, both [n], in double; local_dot(y, x) has the same bits. */
double local_dot(const struct exec *ex, const real *x, const real *y, size_t n);

/* y = a y + b x, both [n], rounded after each operation. */
void local_combine(const struct exec *ex, real *y, real a, const real *x, real b, size_t n);

/* y += x, both [n]. */
void local_add(const struct exec *ex, real *y, const real *x, size_t n);

/* y[i] = x[0][i] + ... + x[terms - 1][i], added in this order, for i in [begin, end); y may be
 * one of x [terms]. */
void local_sum(const struct exec *ex, real *y, const real *const *x, int terms, size_t begin,
               size_t end);

/* The two do not overlap. */
void local_copy(const struct exec *ex, void *to, const void *from, size_t bytes);

/* x [n] *= factor */
void local_scale(const struct exec *ex, real *x, size_t n, real factor);

/* x [n] limited to [-most, most]; what is not a number stays so. */
void local_clamp(const struct exec *ex, real *x, size_t n, real most);

/* y[i] = value, n times */
void local_fill(const struct exec *ex, real *y, size_t n, real value);

/* ---- Of compressors, in local_compress.c and local_low_rank.c ---- */

/* NULL of fp32. */
const struct cast16 *local_cast16(enum precision precision, enum isa isa);

/* cast->encode, decode and add. */
void local_encode16(const struct exec *ex, const struct cast16 *cast, uint16_t *y, const real *x,
                    size_t n, float scale);
void local_decode16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                    size_t n, float scale);
void local_add16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                 size_t n, float scale);

/* x [n] rounded to 16 bits, then times scale. */
void local_round16(const struct exec *ex, const struct cast16 *cast, real *x, size_t n,
                   float scale);

/* Whether none of x [n] is infinite or no number. */
bool local_is_finite(const struct exec *ex, const real *x, size_t n);

/* Takes out of x [n] its k <= n numbers of largest magnitude, the first of equals, NaN before all:
 * values [k] and places [k] in ascending order of place; x is 0 there then. */
void local_take_largest(const struct exec *ex, real *x, size_t n, size_t k, real *values,
                        uint32_t *places);

/* y[places[i]] += values[i], for i in [0, k) */
void local_add_at(const struct exec *ex, real *y, const real *values, const uint32_t *places,
                  size_t k);

/* Sum of magnitudes of x [n]. */
double local_norm1(const struct exec *ex, const real *x, size_t n);

/* Sets bits [at, at + n) to the signs of x [n], 1 being negative, and subtracts scale from each
 * number, or adds it to a negative one. */
void local_take_signs(const struct exec *ex, real *x, size_t n, real scale, uint64_t *bits,
                      size_t at);

/* y [n] += scale, or -scale where the bit is 1 */
void local_add_signs(const struct exec *ex, real *y, size_t n, real scale, const uint64_t *bits,
                     size_t at);

/* For a matrix m [rows][columns] and factors p [rank][side], q [rank][other], of which p belongs to
 * the shorter side: p = m times q, q = m times p (m transposed as it must be). */
void local_low_rank_p(const struct exec *ex, const struct low_rank *shape, real *p, const real *m,
                      const real *q);
void local_low_rank_q(const struct exec *ex, const struct low_rank *shape, real *q, const real *m,
                      const real *p);
/* m = sum of the outer products of their vectors; m -= the same. */
void local_low_rank_product(const struct exec *ex, const struct low_rank *shape, real *m,
                            const real *p, const real *q);
void local_low_rank_subtract(const struct exec *ex, const struct low_rank *shape, real *m,
                             const real *p, const real *q);

/* Makes p [rank][n], rank <= n, orthonormal: an orthonormal basis of what its vectors span, filled
 * up with others where they depend on each other. The same bits from the same p. */
void local_orthonormalize(const struct exec *ex, real *p, size_t n, size_t rank);
