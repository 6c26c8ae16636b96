/* Philox4x32-10 (see base/rng.h) for several blocks at a time. Each 64-bit lane holds one word in
 * its lower half, so that a 32x32-bit product is one instruction. */
#include "kernels/simd/keep.h"

#include "kernels/simd/simd.h"

#define BLOCKS (VECTOR_BYTES / 8)
#define WORDS  4 /* random words per block */

typedef uint64_t vwide __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t vnarrow __attribute__((vector_size(VECTOR_BYTES / 2)));

/* Returns the 64-bit products of b and the lower half of each lane of a. */
INLINE vwide multiply(vwide a, uint32_t b)
{
    vwide factor = (vwide){0} + b;
#if defined(__AVX512F__)
    return (vwide)_mm512_mul_epu32((__m512i)a, (__m512i)factor);
#elif defined(__AVX2__)
    return (vwide)_mm256_mul_epu32((__m256i)a, (__m256i)factor);
#elif defined(__SSE2__)
    return (vwide)_mm_mul_epu32((__m128i)a, (__m128i)factor);
#else
    return (a & 0xffffffff) * factor;
#endif
}

INLINE void blocks(vwide c[WORDS], const uint32_t key[2])
{
    enum { ROUNDS = 10 };
    uint32_t k0 = key[0], k1 = key[1];
#pragma GCC unroll 10
    for (int round = 0; round < ROUNDS; round++) {
        vwide p0 = multiply(c[0], 0xD2511F53u), p1 = multiply(c[2], 0xCD9E8D57u);
        c[0] = (p1 >> 32) ^ c[1] ^ k0;
        c[2] = (p0 >> 32) ^ c[3] ^ k1;
        c[1] = p1;
        c[3] = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* Returns [BLOCKS][WORDS] bytes, one per word: 1 if the word's upper 24 bits are at least `least`,
 * else 0. */
INLINE vnarrow large_words(const vwide c[WORDS], uint32_t least)
{
    vnarrow large = {0};
    for (size_t word = 0; word < WORDS; word++) {
        uint8_t bytes[WORDS] = {0};
        uint32_t one; /* 1 in the byte at index `word` in memory, 0 in the other bytes */
        bytes[word] = 1;
        memcpy(&one, bytes, sizeof one);
        vnarrow low = __builtin_convertvector(c[word], vnarrow) >> 8;
        large |= (vnarrow)(low >= least) & one;
    }
    return large;
}

static void draw(uint8_t *keep, size_t units, const uint32_t counter[4], const uint32_t key[2],
                 uint32_t least)
{
    vwide numbers;
    for (uint32_t i = 0; i < BLOCKS; i++)
        numbers[i] = counter[0] + i;
    for (size_t unit = 0; unit < units; unit += BLOCKS * WORDS, numbers += BLOCKS) {
        vwide c[WORDS] = {numbers, (vwide){0} + counter[1], (vwide){0} + counter[2],
                          (vwide){0} + counter[3]};
        blocks(c, key);
        vnarrow large = large_words(c, least);
        size_t left = units - unit;
        if (left >= sizeof large)
            memcpy(keep + unit, &large, sizeof large);
        else
            memcpy(keep + unit, &large, left);
    }
}

const struct keep_functions SIMD_NAME(keep) = {.draw = draw};
