/* Random augmentation of training images: a function of (seed, epoch, sample), so the number of
 * ranks and the order of samples do not change it. */
#pragma once

#include <stdint.h>

#include "kernels/desc/net_desc.h"

/* Zero padding (pixels) added to each side of an image before it is cropped. */
#define AUGMENT_PAD 4

/* Crop of an image: offset of the first row and column (-AUGMENT_PAD to AUGMENT_PAD), and whether
 * the crop is mirrored. */
struct crop {
    int row, column;
    int flip;
};
struct crop augment_crop(uint64_t seed, uint32_t epoch, uint32_t sample);

/* Replaces an image [C,H,W] by a crop of the same size that begins at (crop.row, crop.column), with
 * zeros beyond the image's edges. If crop.flip is set, mirrors the crop left to right. */
void augment_apply(uint8_t *image, struct shape shape, struct crop crop);

/* Crops n images [n,C,H,W] in place, each at random, and mirrors about half of them. `samples` [n]:
 * sample numbers of the images. */
void augment_batch(uint8_t *images, struct shape shape, const uint32_t *samples, uint32_t n,
                   uint64_t seed, uint32_t epoch);
