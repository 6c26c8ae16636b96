/* Instruction sets that the kernels below kernels/simd are compiled for. One binary holds them all
 * and serves every node of its architecture; what runs is chosen when a net is compiled. */
#pragma once

#include "kernels/base/error.h"

/* From least to most. */
enum isa {
    ISA_PORTABLE, /* what the compiler takes for granted: SSE2 on x86-64, NEON on AArch64 */
#if defined(__x86_64__)
    ISA_AVX2,   /* with FMA */
    ISA_AVX512, /* F, DQ, BW, VL */
#endif
    ISAS
};

/* The most that this processor has. */
enum isa isa_best(void);

/* isa_best, or less where $SCALEBENCH_ISA names less. An unknown name, or one that this processor
 * does not have, is ERR_ARGUMENT. */
enum status isa_choose(enum isa *isa, struct error *e);

/* ISAS names: portable avx2 avx512. */
const char *const *isa_names(void);
