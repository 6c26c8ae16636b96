/* Instruction sets that the kernels below kernels/simd are compiled for. One binary holds them all
 * and serves every node of its architecture; what runs is chosen when a net is compiled. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Of isas.def, those that processors of this architecture may have; from least to most. */
enum isa {
#define ISA(id, name, summary) ISA_##id,
#if !defined(__x86_64__)
#define ISA_OF_X86(id, name, summary)
#endif
#include "kernels/base/isas.def"
    ISAS
};

/* The most that this processor has for products of full precision. */
enum isa isa_best(void);

/* The same where operands may be rounded to bf16: ISA_AMX_BF16, ISA_AVX512_BF16, or isa_best. Of the first the system
 * is asked for leave to use tiles, for the whole process. Before there are threads. */
enum isa isa_best_bf16(void);

/* The set that `isa` is without rounding operands. */
enum isa isa_exact(enum isa isa);

/* From here on isa_choose gives no more than what is called so in isas.def; "auto": than the processor has.
 * ERR_UNAVAILABLE where that is less. Before there are threads. */
enum status isa_limit(const char *name, struct error *e);

/* isa_best, or isa_best_bf16 where `bf16` allows it, or less where isa_limit or $SCALEBENCH_ISA names less. An unknown
 * name in the latter, or one that this processor does not have, is ERR_ARGUMENT. */
enum status isa_choose(enum isa *isa, bool bf16, struct error *e);

/* ISAS names: portable avx2 avx512 avx512_bf16 amx_bf16. */
const char *const *isa_names(void);
