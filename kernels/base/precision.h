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

/* Returns the number of values of a type that fit in a `real`: for fp32 always 1, since fp32 means
 * full precision in the double build too. */
static inline size_t precision_per_real(enum precision precision)
{
    return precision == PRECISION_fp32 ? 1 : sizeof(real) / sizeof(uint16_t);
}
