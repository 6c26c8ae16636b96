/* Peak rates of an instruction set: multiplications and additions in registers, with enough
 * independent sums to keep all multipliers busy, and loads. For sets that round operands, the
 * products of rounded operands are measured. */
#pragma once

#include <stddef.h>

#include "kernels/base/isa.h"
#include "kernels/base/real.h"

/* Returns the peak of one core in FLOPs per second, the best of 16 short runs. Other load on the
 * core can only lower the result. */
double peak_flop_per_s(enum isa isa);

/* Number of reals of which the length of an array in peak_byte_per_s is a multiple. */
#define PEAK_REALS 256

/* Returns the rate in bytes per second at which one core reads, and writes, x [n]: the better of
 * loading all of it, and of adding one half to the other. The rate is that of the cache in which x
 * lies. Callers repeat the call and use the best rate. */
double peak_byte_per_s(enum isa isa, real *x, size_t n);
