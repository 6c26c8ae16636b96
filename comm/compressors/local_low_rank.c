/* Implements the low-rank products of local_ops.h. A factor is stored vector by vector, so that all
 * inner loops run along rows of the matrix and along vectors. */
#include <math.h>
#include <string.h>

#include "comm/local_ops.h"

static void charge(const struct exec *ex, const struct low_rank *shape)
{
    if (ex->charge != NULL)
        ex->charge(ex->charge_arg, WORK_FLOP,
                   2.0 * (double)(shape->rows * shape->columns * shape->rank));
}

/* Returns the dot product of x [n] and y [n]. Uses several partial sums, because the compiler must
 * not reorder one floating-point sum and so could not vectorise it. */
static real dot(const real *x, const real *y, size_t n)
{
    enum { LANES = 16 };
    real sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        sum += x[i] * y[i];
    for (size_t k = 0; k < LANES; k++)
        sum += sums[k];
    return sum;
}

static void add_scaled(real *restrict y, const real *restrict x, real factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* left = right * m', for left [rank][rows], right [rank][columns], m [rows][columns] */
static void times_right(const struct low_rank *shape, real *left, const real *m, const real *right)
{
    for (size_t i = 0; i < shape->rows; i++)
        for (size_t k = 0; k < shape->rank; k++)
            left[k * shape->rows + i] =
                dot(m + i * shape->columns, right + k * shape->columns, shape->columns);
}

/* right = left * m, for right [rank][columns], left [rank][rows], m [rows][columns]; rank: rank of
 * the approximation */
static void times_left(const struct low_rank *shape, real *right, const real *m, const real *left)
{
    memset(right, 0, shape->rank * shape->columns * sizeof *right);
    for (size_t i = 0; i < shape->rows; i++)
        for (size_t k = 0; k < shape->rank; k++)
            add_scaled(right + k * shape->columns, m + i * shape->columns,
                       left[k * shape->rows + i], shape->columns);
}

static bool is_wide(const struct low_rank *shape)
{
    return shape->side == shape->rows;
}

void local_low_rank_p(const struct exec *ex, const struct low_rank *shape, real *p, const real *m,
                      const real *q)
{
    (is_wide(shape) ? times_right : times_left)(shape, p, m, q);
    charge(ex, shape);
}

void local_low_rank_q(const struct exec *ex, const struct low_rank *shape, real *q, const real *m,
                      const real *p)
{
    (is_wide(shape) ? times_left : times_right)(shape, q, m, p);
    charge(ex, shape);
}

/* m += sign * the product of factors p and q */
static void add_product(const struct low_rank *shape, real *m, const real *p, const real *q,
                        real sign)
{
    const real *left = is_wide(shape) ? p : q, *right = is_wide(shape) ? q : p;
    for (size_t i = 0; i < shape->rows; i++)
        for (size_t k = 0; k < shape->rank; k++)
            add_scaled(m + i * shape->columns, right + k * shape->columns,
                       sign * left[k * shape->rows + i], shape->columns);
}

void local_low_rank_product(const struct exec *ex, const struct low_rank *shape, real *m,
                            const real *p, const real *q)
{
    memset(m, 0, shape->rows * shape->columns * sizeof *m);
    add_product(shape, m, p, q, 1);
    charge(ex, shape);
}

void local_low_rank_subtract(const struct exec *ex, const struct low_rank *shape, real *m,
                             const real *p, const real *q)
{
    add_product(shape, m, p, q, -1);
    charge(ex, shape);
}

/* ---- Gram-Schmidt ---- */

static double dot_double(const real *x, const real *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum;
}

/* Subtracts from v [n] its projection on the k orthonormal vectors of `basis`. Returns the norm of
 * the result. */
static double project_out(real *v, const real *basis, size_t n, size_t k)
{
    for (size_t j = 0; j < k; j++) {
        const real *b = basis + j * n;
        double along = dot_double(v, b, n);
        for (size_t i = 0; i < n; i++)
            v[i] = (real)((double)v[i] - along * (double)b[i]);
    }
    return sqrt(dot_double(v, v, n));
}

/* Replaces v [n] by a coordinate vector minus its projection on the k orthonormal vectors of
 * `basis`. Chooses a coordinate vector whose remainder has a norm of at least 1 / sqrt(2 n), and
 * returns this norm. If k < n, such a vector exists, since the squared norms of all n remainders
 * add up to n - k. */
static double replace(real *v, const real *basis, size_t n, size_t k)
{
    double norm = 0;
    for (size_t i = 0; i < n && norm * norm * 2 * (double)n < 1; i++) {
        memset(v, 0, n * sizeof *v);
        v[i] = 1;
        norm = project_out(v, basis, n, k);
    }
    return norm;
}

/* Projections are subtracted twice, because rounding spoils the direction of a vector that loses
 * most of its length ("twice is enough": Kahan; Parlett, The symmetric eigenvalue problem, 1980). A
 * NaN makes its vector and all later ones NaN; an infinite value gives a unit vector or NaN. */
void local_orthonormalize(const struct exec *ex, real *p, size_t n, size_t rank)
{
    for (size_t k = 0; k < rank; k++) {
        real *v = p + k * n;
        double before = sqrt(dot_double(v, v, n)), norm = project_out(v, p, n, k);
        if (before == 0 || norm <= 4 * (double)n * REAL_EPSILON * before)
            norm = replace(v, p, n, k);
        for (size_t i = 0; i < n; i++)
            v[i] = (real)((double)v[i] / norm);
        norm = project_out(v, p, n, k);
        for (size_t i = 0; i < n; i++)
            v[i] = (real)((double)v[i] / norm);
    }
    if (ex->charge != NULL)
        ex->charge(ex->charge_arg, WORK_FLOP, 8.0 * (double)(rank * rank * n));
}
