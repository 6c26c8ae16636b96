/* Random numbers that depend on their purpose, never on call order. The word for (seed, stream,
 * epoch, sample, element) is the same on every rank, thread and machine.
 *
 * The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC11). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Purpose of a stream of random words. If a purpose has several independent parts (layers,
 * tensors), add a part number: stream = RNG_STREAM(RNG_DROPOUT, layer). */
enum rng_use {
    RNG_INIT = 1,
    RNG_SHUFFLE,
    RNG_DROPOUT,
    RNG_AUGMENT,
    RNG_DIGITS,
    RNG_SCHEDULE,
    RNG_STRAGGLER,
    RNG_COMPRESS
};
#define RNG_STREAM(use, part) (((uint32_t)(use) << 16) | (uint32_t)(part))

/* Computes Philox's block function: four words from a counter and a key. */
void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* Returns word number `element` of the sequence for (seed, stream, epoch, sample). */
uint32_t rng_word(uint64_t seed, uint32_t stream, uint32_t epoch, uint32_t sample,
                  uint32_t element);

/* Computes words 4*block to 4*block+3 of the sequence for (seed, stream, epoch, sample). */
void rng_words4(uint32_t out[4], uint64_t seed, uint32_t stream, uint32_t epoch, uint32_t sample,
                uint32_t block);

/* Converts a random word to a uniform number in [0, 1) with 24 bits. */
static inline double rng_unit(uint32_t word)
{
    return (double)(word >> 8) * 0x1p-24;
}

/* Fills order[0..n) with a permutation of 0..n-1 that only depends on (seed, stream, epoch). */
void rng_permutation(uint32_t *order, uint32_t n, uint64_t seed, uint32_t stream, uint32_t epoch);
