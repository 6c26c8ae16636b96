/* Conversion of an image's activations from planes [C,H,W] to blocks of channels
 * [C/block,h,w,block], and back. */
#pragma once

#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

/* Part of the planes that is converted: `area` (rows and columns) of each of `channels` planes.
 * `row`, `plane`: distance in reals from one row or plane to the next. */
struct planes {
    struct area area;
    int channels;
    size_t row, plane;
};

struct block_functions {
    void (*to_blocks)(const struct planes *p, real *blocks, const real *planes);
    void (*to_planes)(const struct planes *p, real *planes, const real *blocks);
};
