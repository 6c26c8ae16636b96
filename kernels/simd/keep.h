/* Draws dropout masks. Computes several blocks of random words at a time, with the same values as
 * rng_words4. Drawing word by word took as long as a dense layer (30 us of lenet_21k's step). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keep_functions {
    /* Draws keep [units]: keep[i] is 1 if the upper 24 bits of random word i are at least `least`,
     * else 0. Word 0 is the first of block counter[0]. `counter` and `key` are as in rng_philox. */
    void (*draw)(uint8_t *keep, size_t units, const uint32_t counter[4], const uint32_t key[2],
                 uint32_t least);
};
