/* Operations on vectors and masks that need intrinsics: bytes to numbers, masks to bits,
 * transposition, sums of lanes. */
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/simd/simd.h"

#define UNROLL _Pragma("GCC unroll 64")
/* Prevents the compiler from splitting an address into parts that would occupy too many
 * registers. */
#define WHOLE_ADDRESS(pointer) __asm__("" : "+r"(pointer))

/* Keeps a vector in a register, so that the compiler does not load it from memory again. No effect
 * on processors other than x86-64 and AArch64. */
#if defined(__x86_64__)
#define VECTOR_IN_REGISTER(v) __asm__("" : "+v"(v))
#elif defined(__aarch64__)
#define VECTOR_IN_REGISTER(v) __asm__("" : "+w"(v))
#else
#define VECTOR_IN_REGISTER(v) (void)(v)
#endif

/* Selects per lane: `yes` where `condition` is true, else `no`. `condition` is the result of a
 * comparison: all bits of a lane are 1 or all are 0. */
INLINE vint vint_choose(vint condition, vint yes, vint no)
{
    return (condition & yes) | (~condition & no);
}

INLINE vreal vreal_choose(vint condition, vreal yes, vreal no)
{
    return (vreal)vint_choose(condition, (vint)yes, (vint)no);
}

/* Bit mask with the bits of all lanes set. */
#define ALL_LANES ((1u << VECTOR_LANES) - 1)

/* Result of a comparison: one truth value per lane. */
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
typedef __mmask16 vmask;
#elif defined(__AVX512F__)
typedef __mmask8 vmask;
#else
typedef vint vmask;
#endif

INLINE vmask vreal_greater(vreal a, vreal b)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
#elif defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
#else
    return a > b;
#endif
}

/* Returns the larger of a and b per lane. If a or b is NaN, either may be returned. */
INLINE vreal vreal_larger(vreal a, vreal b)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vreal)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX512F__)
    return (vreal)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
    return vreal_choose(b > a, b, a);
#endif
}

/* Returns a mask that is true in the lanes where none of four vectors is NaN. */
INLINE vmask vreal_all_ordered(const vreal x[4])
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    __mmask16 ordered = _mm512_cmp_ps_mask((__m512)x[0], (__m512)x[1], _CMP_ORD_Q);
    return _mm512_mask_cmp_ps_mask(ordered, (__m512)x[2], (__m512)x[3], _CMP_ORD_Q);
#elif defined(__AVX512F__)
    __mmask8 ordered = _mm512_cmp_pd_mask((__m512d)x[0], (__m512d)x[1], _CMP_ORD_Q);
    return _mm512_mask_cmp_pd_mask(ordered, (__m512d)x[2], (__m512d)x[3], _CMP_ORD_Q);
#else
    return (x[0] == x[0]) & (x[1] == x[1]) & (x[2] == x[2]) & (x[3] == x[3]);
#endif
}

INLINE vreal vreal_pick(vmask condition, vreal yes, vreal no)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vreal)_mm512_mask_blend_ps(condition, (__m512)no, (__m512)yes);
#elif defined(__AVX512F__)
    return (vreal)_mm512_mask_blend_pd(condition, (__m512d)no, (__m512d)yes);
#else
    return vreal_choose(condition, yes, no);
#endif
}

/* Returns a + b where the condition holds, else a. */
INLINE vint vint_add_where(vmask condition, vint a, lane_int b)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vint)_mm512_mask_add_epi32((__m512i)a, condition, (__m512i)a, _mm512_set1_epi32(b));
#elif defined(__AVX512F__)
    return (vint)_mm512_mask_add_epi64((__m512i)a, condition, (__m512i)a, _mm512_set1_epi64(b));
#else
    return a + (condition & b);
#endif
}

/* Returns the mask as bits: bit i is set if lane i is true. */
INLINE uint16_t vmask_bits(vmask m)
{
#if defined(__AVX512F__)
    return m;
#elif defined(__AVX2__) && !defined(SCALEBENCH_F64)
    return (uint16_t)_mm256_movemask_ps((__m256)m);
#elif defined(__AVX2__)
    return (uint16_t)_mm256_movemask_pd((__m256d)m);
#else
    uint16_t bits = 0;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        bits |= (uint16_t)((m[i] & 1) << i);
    return bits;
#endif
}

/* Stores the lanes for which the condition holds. Memory of the other lanes is not accessed. */
INLINE void vreal_store_where(vmask condition, real *x, vreal v)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    _mm512_mask_storeu_ps(x, condition, (__m512)v);
#elif defined(__AVX512F__)
    _mm512_mask_storeu_pd(x, condition, (__m512d)v);
#elif defined(__AVX2__) && !defined(SCALEBENCH_F64)
    _mm256_maskstore_ps(x, (__m256i)condition, (__m256)v);
#elif defined(__AVX2__)
    _mm256_maskstore_pd(x, (__m256i)condition, (__m256d)v);
#else
    for (int i = 0; i < VECTOR_LANES; i++)
        if (condition[i])
            x[i] = v[i];
#endif
}

INLINE uint16_t vint_bits(vint condition)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return _mm512_movepi32_mask((__m512i)condition);
#elif defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)condition);
#else
    return vmask_bits(condition);
#endif
}

INLINE vint vint_load_numbers(const uint32_t *x)
{
    typedef uint32_t numbers __attribute__((vector_size(4 * VECTOR_LANES)));
    numbers v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, vint);
}

INLINE vmask vmask_of_bits(uint16_t bits)
{
#if defined(__AVX512F__)
    return (vmask)bits;
#else
    vint bit;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        bit[i] = (lane_int)1 << i;
    return (((vint){0} + bits) & bit) != 0;
#endif
}

/* Returns a vector of `from`, `from` + 1, `from` + 2, ... */
INLINE vint vint_count_from(size_t from)
{
    vint v;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        v[i] = i;
    return v + (lane_int)from;
}

/* Loads VECTOR_LANES bytes and converts them to numbers. With AVX-512, and with AVX2 in single
 * precision, uses intrinsics, because the compiler would convert byte by byte. */
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

INLINE vreal vreal_odd(vreal a, vreal b)
{
    vint odd;
    UNROLL
    for (int i = 0; i < VECTOR_LANES; i++)
        odd[i] = 2 * i + 1;
    return __builtin_shuffle(a, b, odd);
}

/* Transposes a square of VECTOR_LANES vectors, by repeatedly interleaving the rows of its upper and
 * lower half. */
INLINE void vreal_transpose(vreal *square)
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

#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
#define LANES_HAS_QUADS
#define QUADS (VECTOR_LANES / 4)

/* Loads four numbers from each of the first `quads` addresses; the other lanes are 0. Uses
 * broadcasts, because shuffles of whole vectors would all use the same execution port. */
INLINE vreal vreal_of_quads(const real *a, const real *b, const real *c, const real *d,
                            const int quads)
{
    __m512 v = _mm512_zextps128_ps512(_mm_loadu_ps(a));
    if (quads > 1)
        v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(b));
    if (quads > 2)
        v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(c));
    if (quads > 3)
        v = _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(d));
    return (vreal)v;
}

INLINE void vreal_store_upper(real *x, vreal v)
{
    _mm256_storeu_ps(x, _mm512_extractf32x8_ps((__m512)v, 1));
}

/* Loads four numbers from each of `quads` addresses: x, x + step, ... */
INLINE vreal vreal_of_rows(const real *x, size_t step, const int quads)
{
    return vreal_of_quads(x, x + step, x + 2 * step, x + 3 * step, quads);
}

/* Transposes four 4x4 squares: square i consists of lanes 4 i to 4 i + 3 of the four vectors. */
INLINE void vreal_transpose_quads(vreal square[4])
{
    __m512 a = (__m512)square[0], b = (__m512)square[1], c = (__m512)square[2],
           d = (__m512)square[3];
    __m512d ab = (__m512d)_mm512_unpacklo_ps(a, b), ab_high = (__m512d)_mm512_unpackhi_ps(a, b);
    __m512d cd = (__m512d)_mm512_unpacklo_ps(c, d), cd_high = (__m512d)_mm512_unpackhi_ps(c, d);
    square[0] = (vreal)_mm512_unpacklo_pd(ab, cd);
    square[1] = (vreal)_mm512_unpackhi_pd(ab, cd);
    square[2] = (vreal)_mm512_unpacklo_pd(ab_high, cd_high);
    square[3] = (vreal)_mm512_unpackhi_pd(ab_high, cd_high);
}
#endif

/* Returns the sums of adjacent lanes of a, then of b: a0 + a1, a2 + a3, ..., b0 + b1, ... */
INLINE vreal vreal_add_pairs(vreal a, vreal b)
{
    return vreal_even(a, b) + vreal_odd(a, b);
}

/* Returns a vector whose lane i is the sum of the lanes of vectors[i], for i < n <= VECTOR_LANES. n
 * is a constant. */
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

INLINE uint16_t vreal_nonzero_bits(vreal x)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    /* Uses inline assembly, because gcc 12 may spill the 16-bit mask and read 32 bits back. */
    uint32_t bits;
    __mmask16 mask = _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    __asm__("kmovw %1, %0" : "=r"(bits) : "k"(mask));
    return (uint16_t)bits;
#else
    return vint_bits(x != 0);
#endif
}

/* Stores the lanes whose bit in `which` is set, without gaps: `lanes` to `values`, `places` to
 * `at`. Returns their number. `values` and `at` need room for a whole vector. */
INLINE size_t vreal_append(real *values, uint32_t *at, uint16_t which, vreal lanes, vint places)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    _mm512_storeu_ps(values, _mm512_maskz_compress_ps(which, (__m512)lanes));
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32(which, (__m512i)places));
    return (size_t)__builtin_popcount(which);
#else
    size_t n = 0;
    for (int i = 0; i < VECTOR_LANES; i++) {
        values[n] = lanes[i];
        at[n] = (uint32_t)places[i];
        n += which >> i & 1;
    }
    return n;
#endif
}
