/* Transposing squares of numbers in registers. */
#ifndef SCALEBENCH_KERNELS_SIMD_TRANSPOSE_H
#define SCALEBENCH_KERNELS_SIMD_TRANSPOSE_H

#include "kernels/simd/simd.h"

/* One stage of a transposition: numbers change places between v[i] and v[i + s] for every i without
 * the bit s. */
INLINE void exchange(vreal *v, int s)
{
    vint low, high;
#pragma GCC unroll 16
    for (int j = 0; j < VECTOR_LANES; j++) {
        low[j] = j & s ? VECTOR_LANES + j - s : j;
        high[j] = j & s ? VECTOR_LANES + j : j + s;
    }
#pragma GCC unroll 16
    for (int i = 0; i < VECTOR_LANES; i++) {
        if (i & s)
            continue;
        vreal a = v[i], b = v[i + s];
        v[i] = vreal_shuffle(a, b, low);
        v[i + s] = vreal_shuffle(a, b, high);
    }
}

INLINE void transpose(vreal v[VECTOR_LANES])
{
#pragma GCC unroll 4
    for (int s = VECTOR_LANES / 2; s > 0; s /= 2)
        exchange(v, s);
}

#endif
