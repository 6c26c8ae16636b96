/* What kernels for convolutions of 3x3 and stride 1 share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TAPS = 9 };

/* Rows and columns, from the top left corner, of a value of which no more is read. */
struct area {
    int h, w;
};

static inline size_t area_pixels(struct area a)
{
    return (size_t)a.h * (size_t)a.w;
}

/* What is done to an output y of the convolution, bias added, before it is stored. */
enum epilogue {
    EPILOGUE_NONE,
    EPILOGUE_RELU,
    EPILOGUE_RELU_POOL, /* windows of 2x2 side by side, in either order */
};

/* Where a stored value came from, a byte each: the offset 0..3 in its window, or nowhere if ReLU
 * stopped it. */
enum { FROM_NOWHERE = 4 };

/* Channels in blocks of `block`, the last filled up with zeros. */
static inline int blocks_of(int channels, int block)
{
    return (channels + block - 1) / block;
}
