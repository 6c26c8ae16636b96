/* Gradients on their way in 16 bits: IEEE 754 binary16 (fp16: 11 significant bits, 2^-24 to 65504)
 * and bfloat16 (bf16: 8 significant bits, the range of float). Rounded to the nearest, ties to
 * even; denormal numbers, infinities and NaN are kept; what is too large becomes infinite. */
#pragma once

#include "kernels/base/isa.h"
#include "kernels/simd/cast16.h"

/* The same bits on every instruction set. */
const struct cast16_functions *cast16_get(enum isa isa);
