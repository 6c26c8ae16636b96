/* Loops that callers time to get the peak FLOP rate (`run`) and bandwidth (`load`, `add`) of an
 * instruction set. */
#pragma once

#include <stddef.h>

#include "kernels/base/real.h"

struct peak_functions {
    double flops; /* FLOPs per round of `run` */
    /* Multiplies and adds numbers in registers, for `rounds` rounds. Returns a number computed from
     * the sums, so that the compiler keeps the computation. */
    real (*run)(size_t rounds);
    /* `load` returns the sum of x [n]. `add` adds the second quarter of x to the first, the fourth
     * to the third. n must be a multiple of PEAK_REALS. */
    real (*load)(const real *x, size_t n);
    void (*add)(real *x, size_t n);
};
