/* Vectors taken apart and put together: bytes become numbers, several vectors' sums one vector. */
#ifndef SCALEBENCH_KERNELS_SIMD_LANES_H
#define SCALEBENCH_KERNELS_SIMD_LANES_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/simd/simd.h"

#define UNROLL _Pragma("GCC unroll 64")
/* Keeps the compiler from splitting an address into parts that it then holds in too many registers.
 */
#define WHOLE_ADDRESS(pointer) __asm__("" : "+r"(pointer))

/* Lane by lane; a condition is what a comparison gives. */
INLINE vint vint_choose(vint condition, vint yes, vint no)
{
    return (condition & yes) | (~condition & no);
}

INLINE vreal vreal_choose(vint condition, vreal yes, vreal no)
{
    return (vreal)vint_choose(condition, (vint)yes, (vint)no);
}

/* Where a must make way for b in a search for the largest: b is larger, or NaN. */
INLINE vint vreal_exceeds(vreal b, vreal a)
{
    return (b > a) | (b != b);
}

/* VECTOR_LANES bytes. The compiler would widen them one by one. */
INLINE vreal vreal_of_bytes(const uint8_t *x)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vreal)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)x)));
#elif defined(__AVX512F__)
    return (vreal)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)x)));
#elif defined(__AVX2__) && !defined(SCALEBENCH_F64)
    return (vreal)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)x)));
#else
    vreal v;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        v[i] = x[i];
    return v;
#endif
}

INLINE vreal vreal_even(vreal a, vreal b)
{
    vint even;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        even[i] = 2 * i;
    return __builtin_shuffle(a, b, even);
}

/* x[i] = lanes[i] + add[i], all below 2^16. */
INLINE void vint_store_short(uint16_t *x, vint lanes, const uint16_t *add)
{
    typedef uint16_t shorts __attribute__((vector_size(2 * VECTOR_LANES)));
    shorts sum;
    memcpy(&sum, add, sizeof sum);
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    sum += (shorts)_mm512_cvtepi32_epi16((__m512i)lanes);
#else
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        sum[i] += (uint16_t)lanes[i];
#endif
    memcpy(x, &sum, sizeof sum);
}

/* Rows become columns, by dealing the rows of the lower half out between those of the upper one as
 * often as it takes. */
INLINE void vreal_turn(vreal *square)
{
    vint low, high;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++) {
        low[i] = i / 2 + i % 2 * VECTOR_LANES;
        high[i] = VECTOR_LANES / 2 + low[i];
    }
    UNROLL
    for (int width = VECTOR_LANES; width > 1; width /= 2) {
        vreal dealt[VECTOR_LANES];
        UNROLL
        for (int i = 0; i < VECTOR_LANES / 2; i++) {
            dealt[2 * i] = __builtin_shuffle(square[i], square[i + VECTOR_LANES / 2], low);
            dealt[2 * i + 1] = __builtin_shuffle(square[i], square[i + VECTOR_LANES / 2], high);
        }
        UNROLL
        for (int i = 0; i < VECTOR_LANES; i++)
            square[i] = dealt[i];
    }
}

/* The numbers a0 a1, a2 a3, ... b0 b1, ... added in pairs. */
INLINE vreal vreal_add_pairs(vreal a, vreal b)
{
    vint even, odd;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++) {
        even[i] = 2 * i;
        odd[i] = 2 * i + 1;
    }
    return __builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd);
}

/* out[i] = the sum of vectors[i] for i < n <= VECTOR_LANES, a constant. The vectors are used up. */
INLINE vreal vreal_sums(vreal *vectors, int n)
{
    vreal half[VECTOR_LANES] = {0};
    UNROLL
    for (int i = 0; i < n; i++)
        half[i] = vectors[i];
    UNROLL
    for (int width = VECTOR_LANES; width > 1; width /= 2, n = (n + 1) / 2)
        UNROLL
    for (int i = 0; i < (n + 1) / 2; i++)
        half[i] = vreal_add_pairs(half[2 * i], half[2 * i + 1]);
    return half[0];
}

/* Appends the lanes that are not zero to `values`, and their places, of which `places` has one for
 * each lane. Returns how many there are, but writes as many as a vector has. */
INLINE size_t vreal_append(real *values, uint32_t *at, vreal lanes, const uint16_t *places)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    __mmask16 some = _mm512_cmp_ps_mask((__m512)lanes, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    __m512i there = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)places));
    _mm512_storeu_ps(values, _mm512_maskz_compress_ps(some, (__m512)lanes));
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32(some, there));
    return (size_t)__builtin_popcount(some);
#else
    size_t n = 0;
    for (int i = 0; i < VECTOR_LANES; i++) {
        values[n] = lanes[i];
        at[n] = places[i];
        n += lanes[i] != 0;
    }
    return n;
#endif
}

#endif
