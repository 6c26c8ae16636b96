/* Matches layers to the ops for 3x3 convolutions of stride 1. Internal to kernels/. */
#pragma once

#include "kernels/ops/op.h"
#include "kernels/simd/conv3x3.h"

/* Returns the number of layers from layers[0] on that form a 3x3 convolution of stride 1 and its
 * epilogue; 0: no match. *norm: whether batch norm follows directly. If so, it and its epilogue are
 * counted too, and *epilogue is EPILOGUE_NONE. */
int conv3x3_match(const struct layer_desc *layers, int n, enum epilogue *epilogue, bool *norm);

/* Returns the number of layers, beginning with layers[0], that form a batch norm and its epilogue;
 * 0 if layers[0] is not batch norm. */
int norm_match(const struct layer_desc *layers, int n, enum epilogue *epilogue);

/* Functions `match` of op_kernel. The `_blocks` variants only match if the next layer's op reads
 * blocks of channels. The `_last` variants match regardless of the next layer. */
int conv3x3_match_blocks(const struct layer_desc *layers, int n, const struct extent *read);
int conv3x3_match_last(const struct layer_desc *layers, int n, const struct extent *read);

int norm_match_blocks(const struct layer_desc *layers, int n, const struct extent *read);
int norm_match_last(const struct layer_desc *layers, int n, const struct extent *read);

/* Returns which area of an activation is computed. The activation is the input of fused layer i or,
 * if i = n_layers, the op's output. In the exact plan the area is the whole activation, otherwise
 * the area that later layers read. */
struct area area_read(const struct fused_layers *fused, int i);
