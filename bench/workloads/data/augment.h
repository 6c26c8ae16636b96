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

/* Crops one image [C,H,W] in place, with zeros beyond its edges, and mirrors it left to right if
 * crop.flip is set. */
void augment_apply(uint8_t *image, struct shape shape, struct crop crop);

/* Crops n images [n,C,H,W] in place, each at random, and mirrors about half of them. `samples` [n]:
 * sample numbers of the images. */
void augment_batch(uint8_t *images, struct shape shape, const uint32_t *samples, uint32_t n,
                   uint64_t seed, uint32_t epoch);
