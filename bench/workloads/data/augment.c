#include "bench/workloads/data/augment.h"

#include <string.h>

#include "kernels/base/rng.h"

/* Maps a random word to a uniform integer in [-AUGMENT_PAD, AUGMENT_PAD], with bias below 2^-29. */
static int offset_of(uint32_t word)
{
    enum { PLACES = 2 * AUGMENT_PAD + 1 };
    return (int)((uint64_t)word * PLACES >> 32) - AUGMENT_PAD;
}

struct crop augment_crop(uint64_t seed, uint32_t epoch, uint32_t sample)
{
    uint32_t words[4];
    rng_words4(words, seed, RNG_STREAM(RNG_AUGMENT, 0), epoch, sample, 0);
    return (struct crop){offset_of(words[0]), offset_of(words[1]), (int)(words[2] >> 31)};
}

/* Shifts a row of w pixels left by `column` pixels (right if negative); fills the gap with zeros.
 * `to` may equal `from`. */
static void shift_row(uint8_t *to, const uint8_t *from, int w, int column)
{
    int left = column < 0 ? -column : 0, right = column > 0 ? column : 0, kept = w - left - right;
    if (kept <= 0) {
        memset(to, 0, (size_t)w);
        return;
    }
    memmove(to + left, from + right, (size_t)kept);
    memset(to, 0, (size_t)left);
    memset(to + left + kept, 0, (size_t)right);
}

static void flip_row(uint8_t *row, int w)
{
    for (int i = 0, j = w - 1; i < j; i++, j--) {
        uint8_t kept = row[i];
        row[i] = row[j];
        row[j] = kept;
    }
}

/* Crops, and perhaps mirrors, one channel of an image in place. The order of rows ensures that each
 * row is read before it is overwritten. */
static void crop_plane(uint8_t *plane, int h, int w, struct crop crop)
{
    for (int i = 0; i < h; i++) {
        int row = crop.row >= 0 ? i : h - 1 - i, from = row + crop.row;
        uint8_t *to = plane + (size_t)row * (size_t)w;
        if (from >= 0 && from < h)
            shift_row(to, plane + (size_t)from * (size_t)w, w, crop.column);
        else
            memset(to, 0, (size_t)w);
        if (crop.flip)
            flip_row(to, w);
    }
}

void augment_apply(uint8_t *image, struct shape shape, struct crop crop)
{
    for (int c = 0; c < shape.c; c++)
        crop_plane(image + (size_t)c * (size_t)shape.h * (size_t)shape.w, shape.h, shape.w, crop);
}

void augment_batch(uint8_t *images, struct shape shape, const uint32_t *samples, uint32_t n,
                   uint64_t seed, uint32_t epoch)
{
    for (uint32_t i = 0; i < n; i++)
        augment_apply(images + i * shape_count(shape), shape,
                      augment_crop(seed, epoch, samples[i]));
}
