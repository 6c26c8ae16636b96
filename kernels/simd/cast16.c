/* Whole-number arithmetic on the bits of floats, which compilers turn into vectors, but for fp16 on
 * AVX-512, which has instructions for it. Where denormal floats are flushed, so are those of bf16,
 * which are the same; fp16 does not notice: they are far below its least number. */
#include "kernels/simd/cast16.h"

#include "kernels/simd/simd.h"

#define SIGN       0x80000000u
#define INFINITE   0x7f800000u
#define BIAS_GAP   (112u << 23) /* between the exponents of float and fp16 */
#define LEAST_FP16 (113u << 23) /* 2^-14, the least normal fp16, as a float */

/* ---- One number ---- */

INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A carry out of the fraction moves on to the next power of two, and past the largest fp16 to
 * infinity. Below 2^-14, fp16 counts multiples of 2^-24, the last place of the floats from 1/2 on:
 * adding 1/2 rounds to them. NaN keeps its upper bits and is quiet, as instructions leave it. */
INLINE uint16_t encode_fp16(float x)
{
    uint32_t bits = bits_of(x), size = bits & ~SIGN;
    uint32_t normal = (size - BIAS_GAP + 0xfff + ((size >> 13) & 1)) >> 13;
    uint32_t small = bits_of(float_of(size) + 0.5f) - (126u << 23);
    uint32_t special = size > INFINITE ? 0x7e00 | ((size >> 13) & 0x3ff) : 0x7c00;
    uint32_t finite = size < LEAST_FP16 ? small : normal;
    uint32_t result = size >= (143u << 23) ? special : finite; /* 2^16 and above */
    return (uint16_t)(result | ((bits & SIGN) >> 16));
}

/* Fractions without the leading one become numbers by subtracting the one they were given. */
INLINE float decode_fp16(uint16_t x)
{
    uint32_t shifted = (x & 0x7fffu) << 13, exponent = x & 0x7c00u;
    uint32_t quiet = shifted > INFINITE - BIAS_GAP - BIAS_GAP ? 0x400000 : 0;
    uint32_t normal = shifted + BIAS_GAP;
    uint32_t special = (shifted + BIAS_GAP + BIAS_GAP) | quiet;
    uint32_t small = bits_of(float_of(shifted + LEAST_FP16) - float_of(LEAST_FP16));
    uint32_t finite = exponent == 0 ? small : normal;
    uint32_t result = exponent == 0x7c00 ? special : finite;
    return float_of(result | (uint32_t)(x & 0x8000) << 16);
}

INLINE uint16_t encode_bf16(float x)
{
    uint32_t bits = bits_of(x);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)((bits & ~SIGN) > INFINITE ? (bits >> 16) | 0x40 : rounded);
}

INLINE float decode_bf16(uint16_t x)
{
    return float_of((uint32_t)x << 16);
}

/* ---- Arrays ---- */

/* In the double-precision build a number is rounded to float first. */
#define CAST16_LOOPS(format)                                                                       \
    INLINE void encode_##format##_loop(uint16_t *restrict y, const real *restrict x, size_t n,     \
                                       float scale)                                                \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = encode_##format((float)x[i] * scale);                                           \
    }                                                                                              \
    INLINE void decode_##format##_loop(real *restrict y, const uint16_t *restrict x, size_t n,     \
                                       float scale)                                                \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = (real)(decode_##format(x[i]) * scale);                                          \
    }                                                                                              \
    INLINE void add_##format##_loop(real *restrict y, const uint16_t *restrict x, size_t n,        \
                                    float scale)                                                   \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] += (real)(decode_##format(x[i]) * scale);                                         \
    }

CAST16_LOOPS(fp16)
CAST16_LOOPS(bf16)

#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
#define HAS_FP16

enum { LANES = 16 };

static void encode_fp16_array(uint16_t *y, const real *x, size_t n, float scale)
{
    const __m512 factor = _mm512_set1_ps(scale);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        __m512 v = _mm512_mul_ps(_mm512_loadu_ps(x + i), factor);
        _mm256_storeu_si256((void *)(y + i), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
    encode_fp16_loop(y + i, x + i, n - i, scale);
}

INLINE __m512 load_fp16(const uint16_t *x, __m512 factor)
{
    __m512 v = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)x));
    return _mm512_mul_ps(v, factor);
}

static void decode_fp16_array(real *y, const uint16_t *x, size_t n, float scale)
{
    const __m512 factor = _mm512_set1_ps(scale);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        _mm512_storeu_ps(y + i, load_fp16(x + i, factor));
    decode_fp16_loop(y + i, x + i, n - i, scale);
}

static void add_fp16_array(real *y, const uint16_t *x, size_t n, float scale)
{
    const __m512 factor = _mm512_set1_ps(scale);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        _mm512_storeu_ps(y + i, _mm512_add_ps(_mm512_loadu_ps(y + i), load_fp16(x + i, factor)));
    add_fp16_loop(y + i, x + i, n - i, scale);
}

#endif

static size_t count_infinite(const uint16_t *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (x[i] & 0x7fff) == 0x7c00;
    return count;
}

const struct cast16_functions SIMD_NAME(cast16) = {
#ifdef HAS_FP16
    .fp16 = {encode_fp16_array, decode_fp16_array, add_fp16_array},
#else
    .fp16 = {encode_fp16_loop, decode_fp16_loop, add_fp16_loop},
#endif
    .bf16 = {encode_bf16_loop, decode_bf16_loop, add_bf16_loop},
    .count_infinite = count_infinite,
};
