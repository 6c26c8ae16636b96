/* Softmax of a few images, in one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/real.h"

/* Largest number of images per call, and largest number of classes. */
#define SOFTMAX_IMAGES  64
#define SOFTMAX_CLASSES 1000

struct softmax_result {
    double log_total; /* ln(sum exp(logits)) over the classes of one image */
    double best;      /* class of the largest logit; of equal logits the first counts */
};

struct softmax_functions {
    /* Sets results [n] (log_total and best of each image) from logits [n,classes]. Unless dlogits
     * is NULL, also sets dlogits [n,classes] to scale[i] * (softmax - onehot of labels[i]) for
     * image i. Arithmetic is in double; exp and ln have a relative error of at most 2^-51. */
    void (*softmax)(size_t n, size_t classes, const real *logits, const uint8_t *labels,
                    const double *scale, struct softmax_result *results, real *dlogits);
};
