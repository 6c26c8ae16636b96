/* What the files in this folder share. Each is compiled once for every instruction set of isa.h,
 * with SIMD_SUFFIX the set's name, and exports one const table of functions; contraction into fused
 * multiply-add is on in this folder alone. They are generic C on vectors of VECTOR_LANES numbers;
 * what needs intrinsics says so behind the set's own macro (__AVX512F__, __AVX2__). On AArch64 the
 * portable set is NEON's: the compiler has its 32 registers of 16 bytes and its fused multiply-add
 * without being asked (ci/arm64.sh looks for them), so there is no other set. */
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

/* Whole numbers of the same size: masks, as comparisons give them (all bits set or none),
 * indices. */
#ifdef SCALEBENCH_F64
typedef int64_t lane_int;
#else
typedef int32_t lane_int;
#endif
typedef lane_int vint __attribute__((vector_size(VECTOR_BYTES)));

/* For what takes a constant (a count, a kind) and must be compiled for it. */
#define INLINE static inline __attribute__((always_inline))

/* Cases of a switch on a number that f takes first: in each it is a constant, for which f, which is
 * INLINE, is compiled. */
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

/* The first `count` numbers only, all of them from VECTOR_LANES on, the others 0; nothing behind
 * them is touched. */
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

/* Number i is number from[i] of a and b, one behind the other. */
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

/* name -> name_avx512 and so on, in the object of that set. */
#define SIMD_PASTE(name, suffix)  name##_##suffix
#define SIMD_EXPAND(name, suffix) SIMD_PASTE(name, suffix)
#define SIMD_NAME(name)           SIMD_EXPAND(name, SIMD_SUFFIX)
