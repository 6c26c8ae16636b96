/* Loads and stores operands and activations. 16-bit numbers are packed two per `real`, in the order
 * of channels.
 *
 * Operands, the factors of matrix products, are bf16 if the instruction set has bf16 products. A
 * real holds PAIR operands, and a row of a block has ROW reals. Activations ("values") have the
 * net's precision in every instruction set. */
#pragma once

#include "kernels/simd/codes16.h"

#define BLOCK (2 * VECTOR_LANES)

#if defined(__AVX512BF16__) && !defined(SCALEBENCH_F64)
#define OPERANDS_ARE_PAIRS
#define PAIR 2
#else
#define PAIR 1
#endif
#define ROW (BLOCK / PAIR)

/* Defined if products use AMX tiles. For test_bf16.c, MODEL_OF_TILES names a header that emulates
 * the tiles in C. */
#if defined(OPERANDS_ARE_PAIRS) && (defined(__AMX_BF16__) || defined(MODEL_OF_TILES))
#define OPERANDS_FILL_TILES
#endif

/* Returns the number of steps for a sum of k terms; each step adds PAIR terms. */
static inline int operand_steps(int k)
{
    return (k + PAIR - 1) / PAIR;
}

/* Returns the size in reals of `rows` rows of a block. With bf16 operands, an odd last row is
 * padded to a pair of rows. */
static inline size_t operand_plane(int rows)
{
    return (size_t)operand_steps(rows) * BLOCK;
}

#ifdef OPERANDS_ARE_PAIRS

/* Stores a vector of numbers as operands, rounded to nearest, ties to even; denormals become
 * zero. */
INLINE void operand_store(real *to, vreal v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, (__m256i)_mm512_cvtneps_pbh((__m512)v));
}

/* Stores the pairs a0 b0, a1 b1, ... as operands, rounded to bf16. */
INLINE void operand_store_pairs(real *to, vreal a, vreal b)
{
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)b, (__m512)a);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(order, both));
}

/* Stores two rows of BLOCK operands as pairs: a0 b0, a1 b1, ... Writes 2 * ROW reals. */
INLINE void operand_store_rows(real *to, vreal a, vreal b)
{
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40,
                                         8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(ROW));
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16((__m512i)a, low, (__m512i)b));
    _mm512_storeu_si512(to + ROW, _mm512_permutex2var_epi16((__m512i)a, high, (__m512i)b));
}

/* Loads the first `count` <= BLOCK numbers of row `from` and returns them as a vector of operands,
 * rounded to bf16. The remaining operands are 0. */
INLINE vreal operand_load_row(const real *from, int count)
{
    vreal low = vreal_load_first(from, (size_t)count), high = {0};
    if (count > VECTOR_LANES)
        high = vreal_load_first(from + VECTOR_LANES, (size_t)(count - VECTOR_LANES));
    return (vreal)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
}

/* Broadcasts one pair of bf16 operands, stored as one real, to all lanes. */
INLINE vreal operand_all(const real *pair)
{
    int32_t bits;
    memcpy(&bits, pair, sizeof bits);
    return (vreal)_mm512_set1_epi32(bits);
}

/* Returns sum + a0 b0 + a1 b1 in each lane, for pairs of operands a0 a1 and b0 b1. Products are
 * exact, sums are rounded. */
INLINE vreal operand_multiply_add(vreal sum, vreal a, vreal b)
{
    return (vreal)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}

#else

INLINE void operand_store(real *to, vreal v)
{
    vreal_store(to, v);
}

INLINE vreal operand_load_row(const real *from, int count)
{
    return vreal_load_first(from, (size_t)count);
}

INLINE vreal operand_all(const real *x)
{
    return vreal_all(*x);
}

INLINE vreal operand_multiply_add(vreal sum, vreal a, vreal b)
{
    return sum + a * b;
}

#endif

/* Address of activation number `at` of x; `at` must be even for 16-bit activations. */
#define value_at(precision, x, at) ((x) + (at) / precision_per_real(precision))

#ifdef SCALEBENCH_F64

/* Loads a vector of activations. In the double build, `precision` is always fp32, which means the
 * full precision of `real`. */
INLINE vreal value_load(enum precision precision, const real *x, size_t at)
{
    return vreal_load(x + at);
}

INLINE void value_store(enum precision precision, real *x, size_t at, vreal v)
{
    vreal_store(x + at, v);
}

#define BY_PRECISION(name, precision, f, parameters, ...)                                          \
    static void name parameters                                                                    \
    {                                                                                              \
        f(PRECISION_fp32, __VA_ARGS__);                                                            \
    }

#else

/* Loads the vector of activations that begins at number `at`. */
INLINE vreal value_load(enum precision precision, const real *x, size_t at)
{
    const real *from = value_at(precision, x, at);
    if (precision == PRECISION_fp16)
        return decode_fp16(codes_load(from));
    return precision == PRECISION_bf16 ? decode_bf16(codes_load(from)) : vreal_load(from);
}

/* Stores a vector of activations, starting at number `at`. With bf16 instructions (operand_store),
 * bf16 denormals become zero; else they are kept. */
INLINE void value_store(enum precision precision, real *x, size_t at, vreal v)
{
    real *to = value_at(precision, x, at);
    if (precision == PRECISION_fp32)
        vreal_store(to, v);
    else if (precision == PRECISION_fp16)
        codes_store(to, encode_fp16(v));
    else
#ifdef OPERANDS_ARE_PAIRS
        operand_store(to, v);
#else
        codes_store(to, encode_bf16(v));
#endif
}

/* Defines the function `name`, which calls the INLINE function f with a constant precision. The
 * 16-bit variants are not inlined, because their code could change the rounding of the fp32
 * variant. In a sum of two products, the compiler fuses one product with the addition, and the
 * surrounding code determines which one. */
#define BY_PRECISION(name, precision, f, parameters, ...)                                          \
    static __attribute__((noinline)) void name##_bf16 parameters                                   \
    {                                                                                              \
        f(PRECISION_bf16, __VA_ARGS__);                                                            \
    }                                                                                              \
    static __attribute__((noinline)) void name##_fp16 parameters                                   \
    {                                                                                              \
        f(PRECISION_fp16, __VA_ARGS__);                                                            \
    }                                                                                              \
    static void name parameters                                                                    \
    {                                                                                              \
        if ((precision) == PRECISION_bf16)                                                         \
            name##_bf16(__VA_ARGS__);                                                              \
        else if ((precision) == PRECISION_fp16)                                                    \
            name##_fp16(__VA_ARGS__);                                                              \
        else                                                                                       \
            f(PRECISION_fp32, __VA_ARGS__);                                                        \
    }

#endif
