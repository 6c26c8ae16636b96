/* The transforms of the bilinear algorithms of kernels/simd/winograd.h along one axis, and their
 * adjoints. Each takes the kind as a constant and is inlined into a loop over the other axis. */
#ifndef SCALEBENCH_KERNELS_SIMD_WINOGRAD_AXIS_H
#define SCALEBENCH_KERNELS_SIMD_WINOGRAD_AXIS_H

#include "kernels/simd/simd.h"
#include "kernels/simd/winograd.h"

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

/* v <- B'd */
INLINE void axis_input(int kind, vreal *v, const vreal *d)
{
    if (kind == WINOGRAD_F4) {
        vreal even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
        vreal even2 = d[4] - d[2], odd2 = 2 * (d[3] - d[1]);
        v[0] = 4 * d[0] - 5 * d[2] + d[4];
        v[1] = even + odd;
        v[2] = even - odd;
        v[3] = even2 + odd2;
        v[4] = even2 - odd2;
        v[5] = 4 * d[1] - 5 * d[3] + d[5];
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

/* d <- B v */
INLINE void axis_input_adjoint(int kind, vreal *d, const vreal *v)
{
    if (kind == WINOGRAD_F4) {
        vreal sum = v[1] + v[2], difference = v[1] - v[2];
        vreal sum2 = v[3] + v[4], difference2 = 2 * (v[3] - v[4]);
        d[0] = 4 * v[0];
        d[1] = 4 * (v[5] - difference) - difference2;
        d[2] = -5 * v[0] - 4 * sum - sum2;
        d[3] = difference + difference2 - 5 * v[5];
        d[4] = v[0] + sum + sum2;
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

/* y <- A'm */
INLINE void axis_output(int kind, vreal *y, const vreal *m)
{
    if (kind == WINOGRAD_F4) {
        vreal sum = m[1] + m[2], difference = m[1] - m[2];
        vreal sum2 = m[3] + m[4], difference2 = m[3] - m[4];
        y[0] = m[0] + sum + sum2;
        y[1] = difference + 2 * difference2;
        y[2] = sum + 4 * sum2;
        y[3] = difference + 8 * difference2 + m[5];
    } else if (kind == WINOGRAD_F2) {
        y[0] = m[0] + m[1] + m[2];
        y[1] = m[1] - m[2] - m[3];
    } else {
        y[0] = m[0] + m[1];
        y[1] = m[0] + m[2];
    }
}

/* m <- A y */
INLINE void axis_output_adjoint(int kind, vreal *m, const vreal *y)
{
    if (kind == WINOGRAD_F4) {
        vreal even = y[0] + y[2], odd = y[1] + y[3];
        vreal even2 = y[0] + 4 * y[2], odd2 = 2 * y[1] + 8 * y[3];
        m[0] = y[0];
        m[1] = even + odd;
        m[2] = even - odd;
        m[3] = even2 + odd2;
        m[4] = even2 - odd2;
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

/* u <- G g */
INLINE void axis_weights(int kind, vreal *u, const vreal *g)
{
    if (kind == WINOGRAD_F4) {
        const real sixth = (real)(1.0 / 6), twelfth = (real)(1.0 / 12), r24 = (real)(1.0 / 24);
        vreal even = -sixth * (g[0] + g[2]), odd = sixth * g[1];
        vreal even2 = r24 * g[0] + sixth * g[2], odd2 = twelfth * g[1];
        u[0] = (real)0.25 * g[0];
        u[1] = even - odd;
        u[2] = even + odd;
        u[3] = even2 + odd2;
        u[4] = even2 - odd2;
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

/* g <- G'u */
INLINE void axis_weights_adjoint(int kind, vreal *g, const vreal *u)
{
    if (kind == WINOGRAD_F4) {
        const real sixth = (real)(1.0 / 6), twelfth = (real)(1.0 / 12), r24 = (real)(1.0 / 24);
        vreal sum = sixth * (u[1] + u[2]), sum2 = u[3] + u[4];
        g[0] = (real)0.25 * u[0] - sum + r24 * sum2;
        g[1] = sixth * (u[2] - u[1]) + twelfth * (u[3] - u[4]);
        g[2] = u[5] - sum + sixth * sum2;
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

#endif
