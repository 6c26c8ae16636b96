/* Peak rates of one core with an instruction set. The FLOP rate is measured by multiplying and
 * adding in registers, with enough independent sums to keep all multipliers busy. Operands are bf16
 * if the instruction set has bf16 products. The memory rate is measured by loading numbers, or by
 * adding to numbers in memory. */
#pragma once

#include <stddef.h>

#include "kernels/base/isa.h"
#include "kernels/base/real.h"

/* Returns the peak of one core in FLOPs per second, the best of 16 short runs. Other load on the
 * core can only lower the result. */
double peak_flop_per_s(enum isa isa);

/* The length in reals of an array for peak_byte_per_s must be a multiple of this number. */
#define PEAK_REALS 256

/* Returns the rate in bytes per second at which one core accesses x [n]. Measures two rates and
 * returns the better: loading x, and adding one half of x to the other half. The rate depends on
 * the cache or memory in which x lies. Callers repeat the call and use the best rate. */
double peak_byte_per_s(enum isa isa, real *x, size_t n);
