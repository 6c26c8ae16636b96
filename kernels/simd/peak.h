/* Sums of products in registers and sums of loaded numbers, for measuring the peak rates of an
 * instruction set. */
#pragma once

#include <stddef.h>

#include "kernels/base/real.h"

struct peak_functions {
    double flops; /* FLOPs per round of `run` */
    /* Adds products in registers, `rounds` times. Returns their sum, so that the compiler keeps the
     * computation. */
    real (*run)(size_t rounds);
    /* n is a multiple of PEAK_REALS. load: returns the sum of x [n]. add: adds the second quarter
     * of x [n] to the first, and the last to the third. */
    real (*load)(const real *x, size_t n);
    void (*add)(real *x, size_t n);
};
