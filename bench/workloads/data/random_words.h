/* Sequence of random numbers for one generated image. Internal to bench/workloads/data/. */
#pragma once

#include "kernels/base/rng.h"

struct random_words {
    uint64_t seed;
    uint32_t stream, index, block, word[4];
    int used; /* number of elements of `word` already returned; 4: none is left */
};

static inline struct random_words random_start(uint64_t seed, uint32_t stream, uint32_t index)
{
    return (struct random_words){.seed = seed, .stream = stream, .index = index, .used = 4};
}

static inline uint32_t random_next(struct random_words *w)
{
    if (w->used == 4) {
        rng_words4(w->word, w->seed, w->stream, 0, w->index, w->block++);
        w->used = 0;
    }
    return w->word[w->used++];
}

/* Returns a uniformly distributed random number in [lo, hi]. Only rounding can give hi. */
static inline float random_uniform(struct random_words *w, float lo, float hi)
{
    return lo + (hi - lo) * (float)rng_unit(random_next(w));
}

/* Returns a random number in (-width, width), with a symmetric distribution that peaks at 0. */
static inline float random_spread(struct random_words *w, float width)
{
    float a = random_uniform(w, 0, 1), b = random_uniform(w, 0, 1);
    return (a - b) * width;
}

/* Converts n levels (0 to 1) to bytes and adds uniform noise of up to +-127.5 x `noise`. n is a
 * multiple of 4. */
static inline void random_store(uint8_t *image, const float *level, int n, float noise,
                                struct random_words *w)
{
    for (int i = 0; i < n; i += 4) {
        uint32_t word = random_next(w);
        for (int k = 0; k < 4; k++, word >>= 8) {
            float value = 255 * level[i + k] + ((float)(word & 255) - 127.5f) * noise;
            image[i + k] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5f);
        }
    }
}
