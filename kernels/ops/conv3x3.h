/* Which layers the ops for convolutions of 3x3 and stride 1 take. Internal to kernels/. */
#pragma once

#include "kernels/ops/op.h"
#include "kernels/simd/conv3x3.h"

/* How many layers from layers[0] on are one such convolution and its epilogue, or batch norm and
 * the norm's epilogue; 0 if it is none. */
int conv3x3_match(const struct layer_desc *layers, int n, enum epilogue *epilogue, bool *norm);

/* The same of batch norm and its epilogue. */
int norm_match(const struct layer_desc *layers, int n, enum epilogue *epilogue);

/* op_kernel's match: where a layer follows that takes values in blocks of channels (such a
 * convolution, and batch norm after one); anywhere. */
int conv3x3_match_blocks(const struct layer_desc *layers, int n, const struct extent *read);
int conv3x3_match_last(const struct layer_desc *layers, int n, const struct extent *read);

int norm_match_blocks(const struct layer_desc *layers, int n, const struct extent *read);
int norm_match_last(const struct layer_desc *layers, int n, const struct extent *read);

/* What is computed of the value before layer i of the fused layers: what is read, and all of it in
 * the exact plan. */
struct area area_read(const struct fused_layers *fused, int i);
