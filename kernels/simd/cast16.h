/* Conversion of arrays to 16 bits and back, in one thread. All instruction sets give the same
 * bits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Conversion functions of one 16-bit format. Arrays have n elements and must not overlap. `scale`
 * is a power of two, so that scaling is exact. */
struct cast16 {
    /* y = x * scale, rounded to nearest, ties to even */
    void (*encode)(uint16_t *y, const real *x, size_t n, float scale);
    /* decode: y = x * scale; add: y += x * scale */
    void (*decode)(real *y, const uint16_t *x, size_t n, float scale);
    void (*add)(real *y, const uint16_t *x, size_t n, float scale);
};

struct cast16_functions {
    struct cast16 fp16, bf16;
    size_t (*count_infinite)(const uint16_t *x, size_t n); /* returns the number of infinite fp16
                                                            * codes */
};
