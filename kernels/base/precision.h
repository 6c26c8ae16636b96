/* Number types of weights, gradients and stored values. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

enum precision {
#define PRECISION(name, summary) PRECISION_##name,
#include "kernels/base/precisions.def"
    PRECISIONS
};

/* Returns the number of values of type `precision` that fit in one `real`. Returns 1 for fp32 even
 * in the double build, which stores fp32 values as doubles. */
static inline size_t precision_per_real(enum precision precision)
{
    return precision == PRECISION_fp32 ? 1 : sizeof(real) / sizeof(uint16_t);
}
