/* Softmax cross-entropy of a batch. Internal to kernels/. */
#pragma once

#include "kernels/base/exec.h"

/* What a batch scored, summed over its n images. */
struct score {
    double loss_sum;  /* natural logarithm */
    uint32_t correct; /* images whose largest logit, the first of equals, is the label */
    uint32_t samples;
};

/* Index of the largest logit [classes], the first of equals. */
int largest_logit(const real *logits, int classes);

/* Scores logits [n,classes] against labels [n] below `classes`. weights [n] as in net_loss; an
 * image of weight 0 does not count among the samples. dlogits [n,classes], or NULL. */
struct score softmax_cross_entropy(int n, int classes, const real *logits, const uint8_t *labels,
                                   const real *weights, double gradient_scale, real *dlogits);

/* The same with the exponential functions of kernels/simd, for every plan but the reference one. */
struct score softmax_cross_entropy_simd(enum isa isa, int n, int classes, const real *logits,
                                        const uint8_t *labels, const real *weights,
                                        double gradient_scale, real *dlogits);
