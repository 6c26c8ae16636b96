/* Sums of products in registers, and nothing else. Compiled once for every instruction set. */
#pragma once

#include <stddef.h>

#include "kernels/base/real.h"

struct peak_functions {
    double flops;               /* of a round */
    real (*run)(size_t rounds); /* returns what they came to, which nobody wants */
};
