/* Convolution as a matrix product: each patch of an image, the receptive field of one output,
 * becomes a column.
 *
 * The matrix is cols [K, ld] with K = in.c * kernel_h * kernel_w. Each image has P = out.h * out.w
 * columns. Padding is zero. Chellapilla, Puri, Simard, "High performance convolutional neural
 * networks for document processing", 2006. Internal to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* Writes the P columns of one image: cols [K, ld] <- x [in]. */
void im2col(real *cols, size_t ld, const real *x, const struct layer_desc *layer);

/* Adjoint of im2col: adds each column of cols to its patch of x [in]. Overlapping patches are
 * summed. */
void col2im_add(real *x, const real *cols, size_t ld, const struct layer_desc *layer);
