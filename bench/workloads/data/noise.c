/* Generates images of random bytes from 1 to 255, to time zero-skipping kernels on input without
 * zeros. */
#include "bench/workloads/data/random_words.h"
#include "bench/workloads/data/readers.h"

enum { PIXELS = 28 * 28 };

void noise_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label)
{
    struct random_words w = random_start(seed, RNG_STREAM(RNG_DIGITS, 3), index);
    *label = (uint8_t)(random_next(&w) % 10);
    for (int i = 0; i < PIXELS; i += 4) {
        uint32_t word = random_next(&w);
        for (int k = 0; k < 4; k++, word >>= 8)
            image[i + k] = (uint8_t)(1 + word % 255);
    }
}

const struct data_reader data_reader_noise = {.draw = noise_draw, .version = 1};
