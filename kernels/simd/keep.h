/* Which units dropout keeps, many words of random numbers at a time: one by one they took 30 us of
 * lenet_21k's step, as long as a dense layer. Compiled once for every instruction set; all give the
 * same bits as rng_words4. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keep_functions {
    /* keep [units] <- 1 where the 24 upper bits of word number 0, 1, ... of a sample are at least
     * `least`, 0 elsewhere. counter and key as in rng_philox; counter[0] counts blocks. */
    void (*draw)(uint8_t *keep, size_t units, const uint32_t counter[4], const uint32_t key[2],
                 uint32_t least);
};
