/* The most that multiplications and additions of an instruction set reach: in registers, with no memory in the
 * way, as many sums side by side as keep the multipliers busy. Of sets that round operands, products of those. */
#pragma once

#include "kernels/base/isa.h"

/* FLOPs per second of one core, the best of some 10 ms now; whatever else runs there can only make it less. */
double peak_flop_per_s(enum isa isa);
