/* Transposes square blocks of numbers in registers. */
#pragma once

#include "kernels/simd/simd.h"

#ifdef SCALEBENCH_F64
#define LANE_BYTES 8
#else
#define LANE_BYTES 4
#endif

/* Lane numbers 0, 1, 2, ... as a constant. If a loop filled the vector, the compiler would
 * recompute its lanes one by one at each use. */
#if VECTOR_BYTES / LANE_BYTES == 16
#define LANE_NUMBERS ((vint){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#elif VECTOR_BYTES / LANE_BYTES == 8
#define LANE_NUMBERS ((vint){0, 1, 2, 3, 4, 5, 6, 7})
#elif VECTOR_BYTES / LANE_BYTES == 4
#define LANE_NUMBERS ((vint){0, 1, 2, 3})
#else
#define LANE_NUMBERS ((vint){0, 1})
#endif

/* Performs one stage of a transposition, for a constant s that is a power of 2: for all i and j
 * with (i & s) = (j & s) = 0, exchanges lane j + s of v[i] with lane j of v[i + s]. */
INLINE void exchange(vreal *v, const int s)
{
    const vint of_second = ((LANE_NUMBERS & s) != 0) & (VECTOR_LANES - s);
    const vint low = LANE_NUMBERS + of_second, high = low + s;
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
    if (VECTOR_LANES > 8)
        exchange(v, 8);
    if (VECTOR_LANES > 4)
        exchange(v, 4);
    if (VECTOR_LANES > 2)
        exchange(v, 2);
    exchange(v, 1);
}
