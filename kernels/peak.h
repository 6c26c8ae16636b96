/* Peak rate of multiplications and additions of an instruction set. The operands stay in registers,
 * in enough independent sums to keep all multipliers busy. For sets that round operands, the peak
 * is that of rounded products. */
#pragma once

#include "kernels/base/isa.h"

/* Measures the peak of one core in FLOPs per second, the best of about 16 short runs. Other load on
 * the core can only lower the result. */
double peak_flop_per_s(enum isa isa);
