/* Random choices of one generated image, read one after the other. Internal to
 * bench/workloads/data/. */
#ifndef SCALEBENCH_BENCH_WORKLOADS_DATA_WORDS_H
#define SCALEBENCH_BENCH_WORKLOADS_DATA_WORDS_H

#include "kernels/base/rng.h"

struct words {
    uint64_t seed;
    uint32_t stream, index, block, word[4];
    int used; /* of `word` */
};

static inline struct words words_start(uint64_t seed, uint32_t stream, uint32_t index)
{
    return (struct words){.seed = seed, .stream = stream, .index = index, .used = 4};
}

static inline uint32_t words_next(struct words *w)
{
    if (w->used == 4) {
        rng_words4(w->word, w->seed, w->stream, 0, w->index, w->block++);
        w->used = 0;
    }
    return w->word[w->used++];
}

/* A number in [lo, hi). */
static inline float words_uniform(struct words *w, float lo, float hi)
{
    return lo + (hi - lo) * (float)rng_unit(words_next(w));
}

/* A number in (-width, width), the middle likelier than the ends. */
static inline float words_spread(struct words *w, float width)
{
    float a = words_uniform(w, 0, 1), b = words_uniform(w, 0, 1);
    return (a - b) * width;
}

#endif
