/* Values of one image between planes [C,H,W] and blocks of channels [C/block,h,w,block]. */
#pragma once

#include "kernels/simd/conv3x3.h"
#include "kernels/simd/simd.h"

/* What is in blocks is a part of planes whose rows lie `row` numbers apart, planes `plane`. */
struct planes {
    struct area area;
    int channels;
    size_t row, plane;
};

struct block_functions {
    void (*to_blocks)(const struct planes *p, real *blocks, const real *planes);
    void (*to_planes)(const struct planes *p, real *planes, const real *blocks);
};
