/* Selects among the function tables that files in kernels/simd export, one table per instruction
 * set. Internal to kernels/. */
#pragma once

#include "kernels/base/isa.h"

/* SIMD_DECLARE(struct conv_functions, conv) declares conv_portable and, on x86-64, conv_avx2 and
 * conv_avx512. It also defines conv_for(isa), which returns the table for an instruction set. In
 * single precision on x86-64, SIMD_DECLARE_BF16 adds conv_avx512_bf16, for code that reads or
 * writes 16-bit operands. SIMD_DECLARE_TILES also adds conv_amx_bf16, for code that multiplies
 * them. */
#if defined(__x86_64__)
#define SIMD_DECLARE_UP_TO(type, name, bf16, tiles)                                                \
    extern const type name##_portable, name##_avx2, name##_avx512;                                 \
    static inline const type *name##_for(enum isa isa)                                             \
    {                                                                                              \
        static const type *const tables[ISAS] = {&name##_portable, &name##_avx2, &name##_avx512,   \
                                                 &name##_##bf16, &name##_##tiles};                 \
        return tables[isa];                                                                        \
    }
#define SIMD_DECLARE(type, name) SIMD_DECLARE_UP_TO(type, name, avx512, avx512)
#if defined(SCALEBENCH_F64) /* the double build never rounds operands to 16 bits */
#define SIMD_DECLARE_BF16(type, name)  SIMD_DECLARE(type, name)
#define SIMD_DECLARE_TILES(type, name) SIMD_DECLARE(type, name)
#else
#define SIMD_DECLARE_BF16(type, name)                                                              \
    extern const type name##_avx512_bf16;                                                          \
    SIMD_DECLARE_UP_TO(type, name, avx512_bf16, avx512_bf16)
#define SIMD_DECLARE_TILES(type, name)                                                             \
    extern const type name##_avx512_bf16, name##_amx_bf16;                                         \
    SIMD_DECLARE_UP_TO(type, name, avx512_bf16, amx_bf16)
#endif
#else
#define SIMD_DECLARE(type, name)                                                                   \
    extern const type name##_portable;                                                             \
    static inline const type *name##_for(enum isa isa)                                             \
    {                                                                                              \
        (void)isa;                                                                                 \
        return &name##_portable;                                                                   \
    }
#define SIMD_DECLARE_BF16(type, name)  SIMD_DECLARE(type, name)
#define SIMD_DECLARE_TILES(type, name) SIMD_DECLARE(type, name)
#endif
