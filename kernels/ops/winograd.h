/* Choice of the algorithm of a 3x3 convolution. Internal to kernels/. */
#pragma once

#include "kernels/ops/conv3x3.h"
#include "kernels/simd/blocks.h"
#include "kernels/simd/winograd/winograd.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_BF16(struct winograd_tiles, winograd_tiles)
SIMD_DECLARE_BF16(struct winograd_tiles, direct_tiles)
SIMD_DECLARE_BF16(struct winograd_weights, winograd_weights)
SIMD_DECLARE_TILES(struct winograd_product, winograd_product)
SIMD_DECLARE(struct block_functions, blocks)

/* Returns the instruction set, at most fused->isa, for a 3x3 convolution by algorithm `kind`: a
 * full-precision set for direct sums of the exact plan, and a set without tiles for Winograd's
 * algorithm, whose products are too small for tiles. */
enum isa conv3x3_isa(const struct fused_layers *fused, enum winograd_kind kind);

/* Returns the algorithm (a variant of Winograd's, or direct sums) and the dimensions for the first
 * fused layer, which is a convolution. */
struct winograd winograd_of(const struct fused_layers *fused);
