/* Declarations shared by the kernels for 3x3 convolutions of stride 1. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TAPS = 9 };

/* Part of an activation: its first `h` rows and its first `w` columns. */
struct area {
    int h, w;
};

static inline size_t area_pixels(struct area a)
{
    return (size_t)a.h * (size_t)a.w;
}

/* Operation applied to the outputs of a convolution (bias included) or of batch norm, before the
 * outputs are stored. */
enum epilogue {
    EPILOGUE_NONE,
    EPILOGUE_RELU,
    EPILOGUE_RELU_POOL, /* ReLU and 2x2 max pooling of stride 2, in either order */
};

/* Origin of each stored output, one byte per output: offset (0 to 3) of the maximum in the 2x2
 * pooling window, or FROM_NOWHERE if ReLU set the output to 0. Without pooling, the offset is 0. */
enum { FROM_NOWHERE = 4 };

/* Returns the number of blocks for `channels` channels. The last block is padded with zeros. */
static inline int blocks_of(int channels, int block)
{
    return (channels + block - 1) / block;
}
