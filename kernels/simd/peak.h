/* Sums of products in registers, for measuring the peak rate of an instruction set. */
#pragma once

#include <stddef.h>

#include "kernels/base/real.h"

struct peak_functions {
    double flops;               /* FLOPs per round of `run` */
    real (*run)(size_t rounds); /* returns the sum, so that the compiler keeps the computation */
};
