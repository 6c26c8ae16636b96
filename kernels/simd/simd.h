/* Declarations shared by the files in this folder. Each file is compiled once per instruction set
 * of isa.h, with SIMD_SUFFIX set to the name of the set, and exports one const table of functions.
 * Only this folder enables contraction into fused multiply-add. On AArch64 the portable set is the
 * only one: compilers use NEON and fused multiply-add by default (ci/arm64.sh checks this). */
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

/* Integers as wide as a `real`, for indices and masks. In a mask, the bits of a lane are either all
 * set or all clear. */
#ifdef SCALEBENCH_F64
typedef int64_t lane_int;
#else
typedef int32_t lane_int;
#endif
typedef lane_int vint __attribute__((vector_size(VECTOR_BYTES)));

/* Inlines a function in every call, so that it is compiled separately for each value of a constant
 * parameter, such as a count. */
#define INLINE static inline __attribute__((always_inline))

/* Cases of a switch that call f with a constant first argument. f must be INLINE, so that it is
 * compiled for each constant. */
#define CASE_OF(number, f, ...)                                                                    \
    case number:                                                                                   \
        f(number, __VA_ARGS__);                                                                    \
        break;
#define CASES_3_TO_4(...) CASE_OF(3, __VA_ARGS__) CASE_OF(4, __VA_ARGS__)
#define CASES_5_TO_6(...) CASE_OF(5, __VA_ARGS__) CASE_OF(6, __VA_ARGS__)
#define CASES_1_TO_2(...) CASE_OF(1, __VA_ARGS__) CASE_OF(2, __VA_ARGS__)
#define CASES_1_TO_4(...) CASES_1_TO_2(__VA_ARGS__) CASES_3_TO_4(__VA_ARGS__)
#define CASES_1_TO_5(...) CASES_1_TO_4(__VA_ARGS__) CASE_OF(5, __VA_ARGS__)
#define CASES_1_TO_6(...) CASES_1_TO_4(__VA_ARGS__) CASES_5_TO_6(__VA_ARGS__)
#define CASES_2_TO_7(...)                                                                          \
    CASE_OF(2, __VA_ARGS__)                                                                        \
    CASES_3_TO_4(__VA_ARGS__) CASES_5_TO_6(__VA_ARGS__) CASE_OF(7, __VA_ARGS__)
#define CASES_7_TO_10(...)                                                                         \
    CASE_OF(7, __VA_ARGS__)                                                                        \
    CASE_OF(8, __VA_ARGS__) CASE_OF(9, __VA_ARGS__) CASE_OF(10, __VA_ARGS__)
#define CASES_1_TO_10(...) CASES_1_TO_6(__VA_ARGS__) CASES_7_TO_10(__VA_ARGS__)
#define CASES_1_TO_12(...)                                                                         \
    CASES_1_TO_10(__VA_ARGS__) CASE_OF(11, __VA_ARGS__) CASE_OF(12, __VA_ARGS__)

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

/* Load or store the first `count` lanes of a vector, all lanes if count >= VECTOR_LANES. Loads set
 * the others to 0. Memory after `count` numbers is not accessed. */
static inline vreal vreal_load_first(const real *x, size_t count)
{
    if (count >= VECTOR_LANES)
        return vreal_load(x);
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vreal)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), x);
#else
    vreal v = {0};
    memcpy(&v, x, count * sizeof *x);
    return v;
#endif
}

static inline void vreal_store_first(real *x, vreal v, size_t count)
{
    if (count >= VECTOR_LANES) {
        vreal_store(x, v);
        return;
    }
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    _mm512_mask_storeu_ps(x, (__mmask16)((1u << count) - 1), (__m512)v);
#else
    memcpy(x, &v, count * sizeof *x);
#endif
}

static inline vreal vreal_all(real x)
{
    return x - (vreal){0};
}

/* Returns a vector whose lane i is number from[i] of the concatenation of a and b. */
static inline vreal vreal_shuffle(vreal a, vreal b, vint from)
{
#if defined(__clang__)
    vreal v;
    for (int i = 0; i < VECTOR_LANES; i++)
        v[i] = from[i] < VECTOR_LANES ? a[from[i]] : b[from[i] - VECTOR_LANES];
    return v;
#else
    return __builtin_shuffle(a, b, from);
#endif
}

/* Appends the name of the instruction set: `name` becomes name_avx512 in the object file for
 * avx512. */
#define SIMD_PASTE(name, suffix)  name##_##suffix
#define SIMD_EXPAND(name, suffix) SIMD_PASTE(name, suffix)
#define SIMD_NAME(name)           SIMD_EXPAND(name, SIMD_SUFFIX)
