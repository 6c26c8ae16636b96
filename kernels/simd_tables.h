/* Choosing among the tables that files below kernels/simd export, one a set of instructions.
 * Internal to kernels/. */
#pragma once

#include "kernels/base/isa.h"

/* SIMD_DECLARE(struct conv_functions, conv) declares conv_portable, conv_avx2, conv_avx512 and the
 * function conv_for(isa), which returns the one to use. */
#if defined(__x86_64__)
#define SIMD_DECLARE(type, name)                                                                   \
    extern const type name##_portable, name##_avx2, name##_avx512;                                 \
    static inline const type *name##_for(enum isa isa)                                             \
    {                                                                                              \
        static const type *const tables[ISAS] = {&name##_portable, &name##_avx2, &name##_avx512};  \
        return tables[isa];                                                                        \
    }
#else
#define SIMD_DECLARE(type, name)                                                                   \
    extern const type name##_portable;                                                             \
    static inline const type *name##_for(enum isa isa)                                             \
    {                                                                                              \
        (void)isa;                                                                                 \
        return &name##_portable;                                                                   \
    }
#endif
