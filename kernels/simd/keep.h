/* Computes dropout masks from the random words of rng_words4, many words at a time. Drawing word by
 * word took 30 us of lenet_21k's step, as long as a dense layer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keep_functions {
    /* Draws keep [units]: keep[i] is 1 if the upper 24 bits of random word i are at least `least`,
     * else 0. Words are counted from the first word of block counter[0]. `counter` and `key` are as
     * in rng_philox. */
    void (*draw)(uint8_t *keep, size_t units, const uint32_t counter[4], const uint32_t key[2],
                 uint32_t least);
};
