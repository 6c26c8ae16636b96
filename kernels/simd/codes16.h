/* Conversion of a vector of floats to and from 16 bits, rounded as in ../cast16.h. For fp16,
 * instructions and integer arithmetic give the same result. Flushing float denormals to zero does
 * not affect fp16, whose smallest number is far above them. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/simd/simd.h"

typedef float vfloat __attribute__((vector_size(VECTOR_LANES * (int)sizeof(float))));
typedef uint32_t vbits __attribute__((vector_size(VECTOR_LANES * (int)sizeof(uint32_t))));
/* Bits of floats without the sign, as integers: a float of larger magnitude has a larger
 * integer. */
typedef int32_t vsize __attribute__((vector_size(VECTOR_LANES * (int)sizeof(int32_t))));
typedef uint16_t vcodes __attribute__((vector_size(VECTOR_LANES * (int)sizeof(uint16_t))));

#define FLOAT_SIGN 0x80000000u
#define INFINITE   0x7f800000
#define BIAS_GAP   (112 << 23) /* exponent bias of float minus fp16's, in float's exponent bits */
#define LEAST_FP16 (113 << 23) /* bits of the float 2^-14, the smallest normal number of fp16 */

INLINE vcodes codes_load(const void *from)
{
    vcodes codes;
    memcpy(&codes, from, sizeof codes);
    return codes;
}

INLINE void codes_store(void *to, vcodes codes)
{
    memcpy(to, &codes, sizeof codes);
}

INLINE vsize sizes_choose(vsize mask, vsize a, vsize b)
{
    return (mask & a) | (~mask & b);
}

INLINE vcodes encode_bf16(vfloat x)
{
    vbits bits = (vbits)x, nan = (vbits)(x != x);
    vbits rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    return __builtin_convertvector((nan & quiet) | (~nan & rounded), vcodes);
}

INLINE vfloat decode_bf16(vcodes codes)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    /* GCC 12 would split __builtin_convertvector into two halves */
    vbits wide = (vbits)_mm512_cvtepu16_epi32((__m256i)codes);
#else
    vbits wide = __builtin_convertvector(codes, vbits);
#endif
    return (vfloat)(wide << 16);
}

#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)

INLINE vcodes encode_fp16(vfloat x)
{
    return (vcodes)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT);
}

INLINE vfloat decode_fp16(vcodes codes)
{
    return (vfloat)_mm512_cvtph_ps((__m256i)codes);
}

#elif defined(__F16C__) && !defined(SCALEBENCH_F64)

INLINE vcodes encode_fp16(vfloat x)
{
    return (vcodes)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
}

INLINE vfloat decode_fp16(vcodes codes)
{
    return (vfloat)_mm256_cvtph_ps((__m128i)codes);
}

#else

/* Encodes by integer arithmetic. A carry out of the fraction gives the next power of two, or
 * infinity. Below 2^-14, fp16 numbers are multiples of 2^-24, the last place of floats in [1/2, 1):
 * adding 1/2 rounds to a multiple. NaN keeps its upper bits and becomes quiet, as with conversion
 * instructions. */
INLINE vcodes encode_fp16(vfloat x)
{
    vbits sign = (vbits)x & FLOAT_SIGN;
    vsize size = (vsize)((vbits)x ^ sign);
    vsize normal = (size - BIAS_GAP + 0xfff + (size >> 13 & 1)) >> 13;
    vsize small = (vsize)((vfloat)size + 0.5f) - (126 << 23);
    vsize special =
        sizes_choose(size > INFINITE, 0x7e00 | (size >> 13 & 0x3ff), (vsize){0} + 0x7c00);
    vsize finite = sizes_choose(size < LEAST_FP16, small, normal);
    /* |x| >= 2^16 becomes infinity; NaN stays NaN */
    vsize code = sizes_choose(size >= 143 << 23, special, finite);
    return __builtin_convertvector((vbits)code | sign >> 16, vcodes);
}

/* Decodes fp16 by integer arithmetic. A denormal with fraction f, whose value is f * 2^-14, becomes
 * the float (1 + f) * 2^-14; then 2^-14 is subtracted. */
INLINE vfloat decode_fp16(vcodes codes)
{
    vsize all = __builtin_convertvector(codes, vsize), shifted = (all & 0x7fff) << 13;
    vsize quiet = (shifted > INFINITE - 2 * BIAS_GAP) & 0x400000;
    vsize special = (shifted + 2 * BIAS_GAP) | quiet, normal = shifted + BIAS_GAP;
    vfloat least = (vfloat)((vsize){0} + LEAST_FP16);
    vsize small = (vsize)((vfloat)(shifted + LEAST_FP16) - least);
    vsize finite = sizes_choose(shifted < 1 << 23, small, normal);
    vsize size = sizes_choose(shifted >= INFINITE - 2 * BIAS_GAP, special, finite);
    return (vfloat)((vbits)size | (vbits)(all & 0x8000) << 16);
}

#endif
