/* Softmax of a few images, as a function of one thread. Compiled once for every instruction set. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Images of a call, and classes, at most. */
#define SOFTMAX_IMAGES  64
#define SOFTMAX_CLASSES 1000

struct softmax_result {
    double log_total; /* ln(sum exp(logits)) */
    double best;      /* the class of the largest logit, the first of equals */
};

struct softmax_functions {
    /* Of logits [n,classes]; and dlogits [n,classes] <- scale[i] * (softmax - onehot of labels[i]),
     * unless it is NULL. Everything in double; exp and ln are wrong by 2^-51 of their value at
     * most. */
    void (*softmax)(size_t n, size_t classes, const real *logits, const uint8_t *labels,
                    const double *scale, struct softmax_result *results, real *dlogits);
};
