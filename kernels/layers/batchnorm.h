/* Batch normalisation. The caller passes the four loops over the batch as batchnorm_pass functions,
 * because the loops depend on the memory layout. Internal to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* Statistics that forward saves for backward. */
struct statistics {
    double *count;          /* number of values summed per channel, over the ranks that share the
                             * batch; 0: running statistics were used */
    double *mean, *inverse; /* [C] mean, and 1 / standard deviation, per channel */
};

struct batchnorm_call {
    const struct exec *ex;
    const struct layer_desc *layer;
    size_t images, channels, plane;
    struct statistics s;
    double *sums;  /* [C,2] two sums per channel; one more number follows them: the number of values
                      in each sum */
    real *running; /* [2,C] running means, then running variances */
    const real *x, *dy, *weight, *bias;
    real *y, *dx;
    void *arg; /* data for the caller's batchnorm_pass functions */
};

/* Returns the bytes of the statistics that forward saves. The sums in scratch have the same
 * size. */
static inline size_t batchnorm_bytes(const struct layer_desc *layer)
{
    return (2 * (size_t)layer->in.c + 1) * sizeof(double);
}

/* Functions saved_bytes and scratch_bytes of the layer's fast and reference kernels. Both return
 * batchnorm_bytes. */
size_t batchnorm_saved_bytes(const struct layer_desc *layer, int n);
size_t batchnorm_scratch_bytes(const struct layer_desc *layer, int n, int threads);

struct batchnorm_call batchnorm_begin(const struct layer_call *c);

static inline bool batchnorm_counts(const struct exec *ex, size_t image)
{
    return ex->weights == NULL || ex->weights[image] != 0;
}

/* Replaces values [n] by their sums over the ranks that share the batch. */
static inline void batchnorm_sum_group(const struct exec *ex, double *values, size_t n)
{
    if (ex->group_sum != NULL)
        ex->group_sum(ex->group_arg, values, n);
}

/* Coefficients of dx = of_dy * dy + (of_x * (x - mean) + constant). */
struct batchnorm_gradient {
    real mean, of_dy, of_x, constant;
};
struct batchnorm_gradient batchnorm_gradient_of(const struct batchnorm_call *call, size_t channel);

typedef void batchnorm_pass(const struct batchnorm_call *call);

/* Runs the forward pass. sum_inputs must set `mean` to a shift per channel and `sums` to the sums
 * of x - shift and (x - shift)^2. normalise must write y. */
void batchnorm_forward(struct batchnorm_call *call, batchnorm_pass *sum_inputs,
                       batchnorm_pass *normalise);

/* Runs the backward pass. sum_gradients must set `sums` to the sums of dy and dy * (x - mean).
 * differentiate must write dx; pass NULL for differentiate if dx is not needed. */
void batchnorm_backward(struct batchnorm_call *call, real *dparams, batchnorm_pass *sum_gradients,
                        batchnorm_pass *differentiate);
