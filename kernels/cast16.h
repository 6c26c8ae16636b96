/* Conversion of gradients to 16 bits for messages: IEEE 754 binary16 (fp16: 11 significant bits,
 * 2^-24 to 65504) or bfloat16 (bf16: 8 significant bits, the range of float). Rounds to nearest,
 * ties to even. Denormals, infinities and NaN are preserved; values that are too large become
 * infinite. */
#pragma once

#include "kernels/base/isa.h"
#include "kernels/simd/cast16.h"

/* Returns the conversion functions for `isa`. All instruction sets give the same bits. */
const struct cast16_functions *cast16_get(enum isa isa);
