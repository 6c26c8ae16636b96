#include "kernels/base/rng.h"

void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    enum { ROUNDS = 10 };
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* Weyl increments: 2^32 times (sqrt(5) - 1) / 2 and sqrt(3) - 1 */
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void rng_words4(uint32_t out[4], uint64_t seed, uint32_t stream, uint32_t epoch, uint32_t sample,
                uint32_t block)
{
    const uint32_t counter[4] = {block, sample, epoch, stream};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    rng_philox(out, counter, key);
}

uint32_t rng_word(uint64_t seed, uint32_t stream, uint32_t epoch, uint32_t sample, uint32_t element)
{
    uint32_t words[4];
    rng_words4(words, seed, stream, epoch, sample, element / 4);
    return words[element % 4];
}

/* Position in one stream of random words, which source_next reads in order. */
struct word_source {
    uint64_t seed;
    uint32_t stream, epoch;
    uint32_t words[4];
    uint32_t next; /* index of the next word; a multiple of 4 begins a new block */
};

static uint32_t source_next(struct word_source *s)
{
    if (s->next % 4 == 0)
        rng_words4(s->words, s->seed, s->stream, s->epoch, 0, s->next / 4);
    return s->words[s->next++ % 4];
}

/* Returns an unbiased uniform number in [0, n) (Lemire, "Fast random integer generation in an
 * interval", 2019). */
static uint32_t source_below(struct word_source *s, uint32_t n)
{
    uint64_t product = (uint64_t)source_next(s) * n;
    if ((uint32_t)product < n) {
        uint32_t threshold = -n % n;
        while ((uint32_t)product < threshold)
            product = (uint64_t)source_next(s) * n;
    }
    return (uint32_t)(product >> 32);
}

/* Fisher-Yates shuffle, in Durstenfeld's in-place form. */
void rng_permutation(uint32_t *order, uint32_t n, uint64_t seed, uint32_t stream, uint32_t epoch)
{
    struct word_source source = {.seed = seed, .stream = stream, .epoch = epoch};
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t left = n; left > 1; left--) {
        uint32_t chosen = source_below(&source, left);
        uint32_t last = order[left - 1];
        order[left - 1] = order[chosen];
        order[chosen] = last;
    }
}
