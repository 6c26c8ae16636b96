/* Numbers of 16 bits and back, as functions of one thread. Compiled once for every instruction set;
 * all give the same bits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* One format. The arrays are [n] and do not overlap; `scale` is a power of two, and multiplying by
 * it loses nothing in either direction. */
struct cast16 {
    /* y = x * scale, rounded to the nearest, of two equally near ones to the even one. */
    void (*encode)(uint16_t *y, const real *x, size_t n, float scale);
    /* y = x * scale; y += x * scale */
    void (*decode)(real *y, const uint16_t *x, size_t n, float scale);
    void (*add)(real *y, const uint16_t *x, size_t n, float scale);
};

struct cast16_functions {
    struct cast16 fp16, bf16;
    size_t (*count_infinite)(const uint16_t *x, size_t n); /* of fp16 */
};
