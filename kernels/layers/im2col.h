/* Convolution as a matrix product: every patch of an image, the receptive field of an output,
 * becomes a column.
 *
 * The columns of several images stand side by side: cols [K, ld] with K = in.c * kernel_h *
 * kernel_w rows, image i at columns i * P .. (i+1) * P - 1, P = out.h * out.w. Positions in the
 * padding are zeros. Chellapilla, Puri, Simard, "High performance convolutional neural networks for
 * document processing", 2006. Internal to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* cols [K, ld], P columns of it <- x [in], one image. */
void im2col(real *cols, size_t ld, const real *x, const struct layer_desc *layer);

/* The adjoint: x [in] += cols, every position summed over the patches that it is in. */
void col2im_add(real *x, const real *cols, size_t ld, const struct layer_desc *layer);
