/* Peak rate of multiplications and additions of an instruction set. The operands stay in registers,
 * and there are enough independent sums to keep all multipliers busy. For sets that round operands,
 * the products of rounded operands are measured. */
#pragma once

#include "kernels/base/isa.h"

/* Returns the peak of one core in FLOPs per second, the best of 16 short runs. Other load on the
 * core can only lower the result. */
double peak_flop_per_s(enum isa isa);
