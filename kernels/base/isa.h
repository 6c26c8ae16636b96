/* Instruction sets that the kernels below kernels/simd are compiled for. One binary holds them all
 * and serves every node of its architecture; what runs is chosen when a net is compiled. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* From least to most. */
enum isa {
    ISA_PORTABLE, /* what the compiler takes for granted: SSE2 on x86-64, NEON on AArch64 */
#if defined(__x86_64__)
    ISA_AVX2,        /* with FMA */
    ISA_AVX512,      /* F, DQ, BW, VL */
    ISA_AVX512_BF16, /* the same but for large products, whose operands are rounded to bf16 */
#endif
    ISAS
};

/* The most that this processor has for products of full precision. */
enum isa isa_best(void);

/* The same where operands may be rounded to bf16: ISA_AVX512_BF16, or isa_best. */
enum isa isa_best_bf16(void);

/* The set that `isa` is without rounding operands. */
enum isa isa_exact(enum isa isa);

/* isa_best, or isa_best_bf16 where `bf16` allows it, or less where $SCALEBENCH_ISA names less. An unknown
 * name, or one that this processor does not have, is ERR_ARGUMENT. */
enum status isa_choose(enum isa *isa, bool bf16, struct error *e);

/* ISAS names: portable avx2 avx512 avx512_bf16. */
const char *const *isa_names(void);
