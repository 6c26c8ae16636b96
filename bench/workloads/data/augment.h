/* Random changes of training images, as a function of (seed, epoch, sample): the same on every
 * number of ranks, and in whatever order samples come. */
#pragma once

#include <stdint.h>

#include "kernels/desc/net_desc.h"

/* Rows and columns of zeroes that a crop may reach into. */
#define AUGMENT_PAD 4

/* Where the crop of an image begins, -AUGMENT_PAD to AUGMENT_PAD, and whether it is mirrored. */
struct crop {
    int row, column;
    int flip;
};
struct crop augment_crop(uint64_t seed, uint32_t epoch, uint32_t sample);

/* Changes one image [C,H,W] in place: the crop's part of the image on a black ground, mirrored left
 * to right or not. */
void augment_apply(uint8_t *image, struct shape shape, struct crop crop);

/* The same to n images, each with the crop of its sample. */
void augment_batch(uint8_t *images, struct shape shape, const uint32_t *samples, uint32_t n,
                   uint64_t seed, uint32_t epoch);
