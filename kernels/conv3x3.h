/* Which layers the steps for convolutions of 3x3 and stride 1 take. Internal to kernels/. */
#ifndef SCALEBENCH_KERNELS_CONV3X3_H
#define SCALEBENCH_KERNELS_CONV3X3_H

#include "kernels/simd/conv3x3.h"
#include "kernels/step.h"

/* How many layers from layers[0] on are one such convolution and its epilogue, 0 if it is none. */
int conv3x3_match(const struct layer_desc *layers, int n, enum epilogue *epilogue);

/* The same, if another such convolution follows, which takes values in blocks of channels. */
int conv3x3_match_followed(const struct layer_desc *layers, int n, enum epilogue *epilogue);

static inline struct area area_of(struct extent read)
{
    return (struct area){read.h, read.w};
}

#endif
