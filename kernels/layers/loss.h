/* Softmax cross-entropy of a batch. Internal to kernels/. */
#pragma once

#include "kernels/base/exec.h"

/* Score of a batch: sum of losses, number of correctly classified images and number of images. */
struct score {
    double loss_sum;  /* sum of cross-entropies, in nats */
    uint32_t correct; /* number of images whose label is the class of the largest logit; of equal
                       * logits, the first counts */
    uint32_t samples;
};

/* Returns the index of the largest of logits [classes]. If several are equal, the first one
 * counts. */
int largest_logit(const real *logits, int classes);

/* Returns the score of logits [n,classes] for labels [n] < classes. weights [n] (NULL: all 1)
 * multiply the loss and gradient of each image; images of weight 0 are not counted. Sets dlogits
 * [n,classes], unless NULL, to weight * gradient_scale * (softmax - onehot). */
struct score softmax_cross_entropy(int n, int classes, const real *logits, const uint8_t *labels,
                                   const real *weights, double gradient_scale, real *dlogits);

/* Works as softmax_cross_entropy, with the exponential functions of kernels/simd. Used by all plans
 * except reference. */
struct score softmax_cross_entropy_simd(enum isa isa, int n, int classes, const real *logits,
                                        const uint8_t *labels, const real *weights,
                                        double gradient_scale, real *dlogits);
