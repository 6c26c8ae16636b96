/* The types that a net computes with and keeps numbers in. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

enum precision {
#define PRECISION(name, summary) PRECISION_##name,
#include "kernels/base/precisions.def"
    PRECISIONS
};

/* Numbers of a type in the room of a `real`, which one of full precision is in either build. */
static inline size_t precision_per_real(enum precision precision)
{
    return precision == PRECISION_fp32 ? 1 : sizeof(real) / sizeof(uint16_t);
}
