/* Transforms of winograd.h along one axis, and their adjoints. `kind` is a constant, and each
 * function is inlined into a loop over the other axis. */
#pragma once

#include "kernels/simd/simd.h"
#include "kernels/simd/winograd/winograd.h"

/* F4 evaluates polynomials at 0, +-P, +-Q and infinity. In exact arithmetic any distinct P, Q > 0
 * work. Per axis, F4 multiplies the mean square rounding error of direct sums by a factor: the mean
 * of A'^2 (b g) / 3. Squares of matrices are elementwise, b and g are the row sums of B'^2 and G^2,
 * and b g is their elementwise product. Among all multiples of 1/8, these P and Q give the smallest
 * factor: 4.8, against 10.8 for 1 and 2. G's divisions by the distances between points are moved to
 * B', since deep layers have more weights than inputs. */
#define P    0.625
#define Q    1.5
#define PP   (P * P)
#define QQ   (Q * Q)
#define OF_0 (1 / (PP * QQ))
#define OF_P (1 / (2 * PP * (PP - QQ)))
#define OF_Q (1 / (2 * QQ * (QQ - PP)))
#define K(x) ((real)(x)) /* constant expression in double, rounded once to real */

/* Cases of a switch over the kinds of tiles. Each case calls the given function with the kind as a
 * constant first argument. */
#define CASES_OF_KIND(...)                                                                         \
    CASE_OF(WINOGRAD_F4, __VA_ARGS__)                                                              \
    CASE_OF(WINOGRAD_F2, __VA_ARGS__)                                                              \
    CASE_OF(WINOGRAD_T2, __VA_ARGS__)

INLINE int axis_points(int kind)
{
    return kind == WINOGRAD_F4 ? 6 : kind == WINOGRAD_F2 ? 4 : 3;
}

INLINE int axis_outputs(int kind)
{
    return kind == WINOGRAD_F4 ? 4 : 2;
}

INLINE int axis_inputs(int kind)
{
    return kind == WINOGRAD_T2 ? 2 : axis_outputs(kind) + 2;
}

/* Transforms inputs: v <- B'd. */
INLINE void axis_input(int kind, vreal *v, const vreal *d)
{
    if (kind == WINOGRAD_F4) {
        vreal even = K(OF_P) * d[4] - K(QQ * OF_P) * d[2];
        vreal odd = K(P * OF_P) * d[3] - K(P * QQ * OF_P) * d[1];
        vreal even2 = K(OF_Q) * d[4] - K(PP * OF_Q) * d[2];
        vreal odd2 = K(Q * OF_Q) * d[3] - K(Q * PP * OF_Q) * d[1];
        v[0] = d[0] - K((PP + QQ) * OF_0) * d[2] + K(OF_0) * d[4];
        v[1] = even + odd;
        v[2] = even - odd;
        v[3] = even2 + odd2;
        v[4] = even2 - odd2;
        v[5] = K(PP * QQ) * d[1] - K(PP + QQ) * d[3] + d[5];
    } else if (kind == WINOGRAD_F2) {
        v[0] = d[0] - d[2];
        v[1] = d[1] + d[2];
        v[2] = d[2] - d[1];
        v[3] = d[1] - d[3];
    } else {
        v[0] = d[0] + d[1];
        v[1] = d[1];
        v[2] = d[0];
    }
}

/* Adjoint of axis_input: d <- B v. */
INLINE void axis_input_adjoint(int kind, vreal *d, const vreal *v)
{
    if (kind == WINOGRAD_F4) {
        vreal sum = v[1] + v[2], difference = v[1] - v[2];
        vreal sum2 = v[3] + v[4], difference2 = v[3] - v[4];
        d[0] = v[0];
        d[1] = K(PP * QQ) * v[5] - K(P * QQ * OF_P) * difference - K(Q * PP * OF_Q) * difference2;
        d[2] = K(-(PP + QQ) * OF_0) * v[0] - K(QQ * OF_P) * sum - K(PP * OF_Q) * sum2;
        d[3] = K(P * OF_P) * difference + K(Q * OF_Q) * difference2 - K(PP + QQ) * v[5];
        d[4] = K(OF_0) * v[0] + K(OF_P) * sum + K(OF_Q) * sum2;
        d[5] = v[5];
    } else if (kind == WINOGRAD_F2) {
        d[0] = v[0];
        d[1] = v[1] - v[2] + v[3];
        d[2] = v[1] + v[2] - v[0];
        d[3] = -v[3];
    } else {
        d[0] = v[0] + v[2];
        d[1] = v[0] + v[1];
    }
}

/* Transforms products to outputs: y <- A'm. */
INLINE void axis_output(int kind, vreal *y, const vreal *m)
{
    if (kind == WINOGRAD_F4) {
        vreal sum = m[1] + m[2], difference = m[1] - m[2];
        vreal sum2 = m[3] + m[4], difference2 = m[3] - m[4];
        y[0] = m[0] + sum + sum2;
        y[1] = K(P) * difference + K(Q) * difference2;
        y[2] = K(PP) * sum + K(QQ) * sum2;
        y[3] = K(P * PP) * difference + K(Q * QQ) * difference2 + m[5];
    } else if (kind == WINOGRAD_F2) {
        y[0] = m[0] + m[1] + m[2];
        y[1] = m[1] - m[2] - m[3];
    } else {
        y[0] = m[0] + m[1];
        y[1] = m[0] + m[2];
    }
}

/* Adjoint of axis_output: m <- A y. */
INLINE void axis_output_adjoint(int kind, vreal *m, const vreal *y)
{
    if (kind == WINOGRAD_F4) {
        vreal even = y[0] + K(PP) * y[2], odd = y[1] + K(PP) * y[3];
        vreal even2 = y[0] + K(QQ) * y[2], odd2 = y[1] + K(QQ) * y[3];
        m[0] = y[0];
        m[1] = even + K(P) * odd;
        m[2] = even - K(P) * odd;
        m[3] = even2 + K(Q) * odd2;
        m[4] = even2 - K(Q) * odd2;
        m[5] = y[3];
    } else if (kind == WINOGRAD_F2) {
        m[0] = y[0];
        m[1] = y[0] + y[1];
        m[2] = y[0] - y[1];
        m[3] = -y[1];
    } else {
        m[0] = y[0] + y[1];
        m[1] = y[0];
        m[2] = y[1];
    }
}

/* Transforms weights: u <- G g. */
INLINE void axis_weights(int kind, vreal *u, const vreal *g)
{
    if (kind == WINOGRAD_F4) {
        vreal even = g[0] + K(PP) * g[2], even2 = g[0] + K(QQ) * g[2];
        u[0] = g[0];
        u[1] = even + K(P) * g[1];
        u[2] = even - K(P) * g[1];
        u[3] = even2 + K(Q) * g[1];
        u[4] = even2 - K(Q) * g[1];
        u[5] = g[2];
    } else if (kind == WINOGRAD_F2) {
        vreal even = (real)0.5 * (g[0] + g[2]), odd = (real)0.5 * g[1];
        u[0] = g[0];
        u[1] = even + odd;
        u[2] = even - odd;
        u[3] = g[2];
    } else {
        u[0] = g[1];
        u[1] = g[2] - g[1];
        u[2] = g[0] - g[1];
    }
}

/* Adjoint of axis_weights: g <- G'u. */
INLINE void axis_weights_adjoint(int kind, vreal *g, const vreal *u)
{
    if (kind == WINOGRAD_F4) {
        vreal sum = u[1] + u[2], difference = u[1] - u[2];
        vreal sum2 = u[3] + u[4], difference2 = u[3] - u[4];
        g[0] = u[0] + sum + sum2;
        g[1] = K(P) * difference + K(Q) * difference2;
        g[2] = u[5] + K(PP) * sum + K(QQ) * sum2;
    } else if (kind == WINOGRAD_F2) {
        vreal half = (real)0.5 * (u[1] + u[2]);
        g[0] = u[0] + half;
        g[1] = (real)0.5 * (u[1] - u[2]);
        g[2] = u[3] + half;
    } else {
        g[0] = u[2];
        g[1] = u[0] - u[1] - u[2];
        g[2] = u[1];
    }
}
