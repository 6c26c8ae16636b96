/* Peak rates of one core with an instruction set. The FLOP rate is measured in registers, with bf16
 * operands if the instruction set has bf16 products. */
#pragma once

#include <stddef.h>

#include "kernels/base/isa.h"
#include "kernels/base/real.h"

/* Returns the peak of one core in FLOPs per second, the best of 16 short runs. Other load on the
 * core can only lower the result. */
double peak_flop_per_s(enum isa isa);

/* The length in reals of an array for peak_byte_per_s must be a multiple of this number. */
#define PEAK_REALS 256

/* Returns the rate in bytes per second at which one core accesses x [n], in a cache or in memory:
 * the better of loading x and adding one half of x to the other. Callers repeat the call and use
 * the best rate. */
double peak_byte_per_s(enum isa isa, real *x, size_t n);
