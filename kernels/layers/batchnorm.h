/* Batch norm but for its four passes over the batch, which know how values lie in memory. Internal
 * to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* What forward leaves for backward, and backward's own coefficients in scratch. */
struct statistics {
    double *count;          /* numbers a channel over all ranks; 0: running statistics were used */
    double *mean, *inverse; /* [C]; the inverse of the standard deviation */
};

struct batchnorm_call {
    const struct exec *ex;
    const struct layer_desc *layer;
    size_t images, channels, plane;
    struct statistics s;
    double *sums;  /* [C,2], and the count */
    real *running; /* [C,2]: running means, then variances */
    const real *x, *dy, *weight, *bias;
    real *y, *dx;
    void *arg; /* of the passes */
};

/* Bytes that are kept for backward, and as many of scratch for the sums. */
static inline size_t batchnorm_bytes(const struct layer_desc *layer)
{
    return (2 * (size_t)layer->in.c + 1) * sizeof(double);
}

/* The same as hooks of a layer's kernel, fast or reference. */
size_t batchnorm_saved_bytes(const struct layer_desc *layer, int n);
size_t batchnorm_scratch_bytes(const struct layer_desc *layer, int n, int threads);

struct batchnorm_call batchnorm_begin(const struct layer_call *c);

static inline bool batchnorm_counts(const struct exec *ex, size_t image)
{
    return ex->weights == NULL || ex->weights[image] != 0;
}

/* dx = of_dy * dy + (of_x * (x - mean) + constant) */
struct batchnorm_gradient {
    real mean, of_dy, of_x, constant;
};
struct batchnorm_gradient batchnorm_gradient_of(const struct batchnorm_call *call, size_t channel);

typedef void batchnorm_pass(const struct batchnorm_call *call);

/* sum_inputs leaves in mean what the sums of x - mean and (x - mean)^2 are taken around; normalise
 * writes y. */
void batchnorm_forward(struct batchnorm_call *call, batchnorm_pass *sum_inputs,
                       batchnorm_pass *normalise);

/* sum_gradients leaves the sums of dy and dy * (x - mean); differentiate writes dx, NULL where
 * nobody wants it. */
void batchnorm_backward(struct batchnorm_call *call, real *dparams, batchnorm_pass *sum_gradients,
                        batchnorm_pass *differentiate);
