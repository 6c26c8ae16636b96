/* Conversion of arrays to 16 bits and back, a vector at a time; see codes16.h. */
#include "kernels/simd/cast16.h"

#include "kernels/simd/codes16.h"

/* Returns x * scale as floats. In the double build, x is rounded to float before the
 * multiplication. */
INLINE vfloat scaled(vreal x, float scale)
{
    return __builtin_convertvector(x, vfloat) * scale;
}

INLINE vcodes codes_load_first(const uint16_t *from, size_t count)
{
    vcodes codes = {0};
    memcpy(&codes, from, count * sizeof *from);
    return codes;
}

#define CAST16_FUNCTIONS(format)                                                                   \
    static void encode_##format##_array(uint16_t *y, const real *x, size_t n, float scale)         \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)                                           \
            codes_store(y + i, encode_##format(scaled(vreal_load(x + i), scale)));                 \
        vcodes last = encode_##format(scaled(vreal_load_first(x + i, n - i), scale));              \
        memcpy(y + i, &last, (n - i) * sizeof *y);                                                 \
    }                                                                                              \
    INLINE vreal decoded_##format(vcodes codes, float scale)                                       \
    {                                                                                              \
        return __builtin_convertvector(decode_##format(codes) * scale, vreal);                     \
    }                                                                                              \
    static void decode_##format##_array(real *y, const uint16_t *x, size_t n, float scale)         \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)                                           \
            vreal_store(y + i, decoded_##format(codes_load(x + i), scale));                        \
        vreal_store_first(y + i, decoded_##format(codes_load_first(x + i, n - i), scale), n - i);  \
    }                                                                                              \
    static void add_##format##_array(real *y, const uint16_t *x, size_t n, float scale)            \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)                                           \
            vreal_store(y + i, vreal_load(y + i) + decoded_##format(codes_load(x + i), scale));    \
        vreal sum = vreal_load_first(y + i, n - i) +                                               \
                    decoded_##format(codes_load_first(x + i, n - i), scale);                       \
        vreal_store_first(y + i, sum, n - i);                                                      \
    }

CAST16_FUNCTIONS(fp16)
CAST16_FUNCTIONS(bf16)

static size_t count_infinite(const uint16_t *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (x[i] & 0x7fff) == 0x7c00;
    return count;
}

const struct cast16_functions SIMD_NAME(cast16) = {
    .fp16 = {encode_fp16_array, decode_fp16_array, add_fp16_array},
    .bf16 = {encode_bf16_array, decode_bf16_array, add_bf16_array},
    .count_infinite = count_infinite,
};
