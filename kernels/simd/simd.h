/* What the files in this folder share. Each is compiled once for every instruction set of isa.h,
 * with SIMD_SUFFIX the set's name, and exports one const table of functions; contraction into fused
 * multiply-add is on in this folder alone. They are generic C on vectors of VECTOR_LANES numbers;
 * what needs intrinsics says so behind the set's own macro (__AVX512F__, __AVX2__, __ARM_NEON). */
#ifndef SCALEBENCH_KERNELS_SIMD_SIMD_H
#define SCALEBENCH_KERNELS_SIMD_SIMD_H

#include <stdint.h>
#include <string.h>

#include "kernels/base/real.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTOR_LANES (VECTOR_BYTES / (int)sizeof(real))

typedef real vreal __attribute__((vector_size(VECTOR_BYTES)));

static inline vreal vreal_load(const real *x)
{
    vreal v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void vreal_store(real *x, vreal v)
{
    memcpy(x, &v, sizeof v);
}

static inline vreal vreal_all(real x)
{
    return x - (vreal){0};
}

/* name -> name_avx512 and so on, in the object of that set. */
#define SIMD_PASTE(name, suffix)  name##_##suffix
#define SIMD_EXPAND(name, suffix) SIMD_PASTE(name, suffix)
#define SIMD_NAME(name)           SIMD_EXPAND(name, SIMD_SUFFIX)

#endif
