/* Instruction sets that kernels/simd is compiled for. One binary contains all of them. The set is
 * chosen when a net is created. */
#pragma once

#include <stdbool.h>

#include "kernels/base/error.h"

/* Instruction sets of isas.def that exist on this architecture, from least to most capable. */
enum isa {
#define ISA(id, name, summary) ISA_##id,
#if !defined(__x86_64__)
#define ISA_OF_X86(id, name, summary)
#endif
#include "kernels/base/isas.def"
    ISAS
};

/* Returns this processor's most capable instruction set for products of unrounded numbers (float,
 * or double in the double build). */
enum isa isa_best(void);

/* Returns this processor's most capable instruction set for products whose operands may be rounded
 * to bf16. Requests AMX tiles from Linux, and returns ISA_AMX_BF16 only if Linux grants them. Call
 * it before threads are created. */
enum isa isa_best_bf16(void);

/* Returns the full-precision instruction set that `isa` extends (avx512 for avx512_bf16), or `isa`
 * itself if it is a full-precision set. */
enum isa isa_exact(enum isa isa);

/* Returns the set that multiplies like `isa`, but with vectors in place of tiles: avx512_bf16 for
 * amx_bf16, otherwise `isa`. */
enum isa isa_of_vectors(enum isa isa);

/* Makes `name` the most capable set that isa_choose may return; "auto": no limit. ERR_UNAVAILABLE
 * if the set is unknown or missing on this processor. Call it before threads are created. */
enum status isa_limit(const char *name, struct error *e);

/* Chooses isa_best_bf16() if `bf16`, else isa_best(), limited by isa_limit and $SCALEBENCH_ISA.
 * ERR_ARGUMENT if $SCALEBENCH_ISA names a set that is unknown or not supported by this
 * processor. */
enum status isa_choose(enum isa *isa, bool bf16, struct error *e);

/* Returns the names of the instruction sets, indexed by enum isa: portable, and on x86-64 also avx2
 * avx512 avx512_bf16 amx_bf16. */
const char *const *isa_names(void);
