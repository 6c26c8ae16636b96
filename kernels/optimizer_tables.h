/* What an optimizer is made of. Internal to kernels/. */
#ifndef SCALEBENCH_KERNELS_OPTIMIZER_TABLES_H
#define SCALEBENCH_KERNELS_OPTIMIZER_TABLES_H

#include <math.h>

#include "kernels/kernels.h"

#ifdef SCALEBENCH_F64
#define real_sqrt sqrt
#else
#define real_sqrt sqrtf
#endif

/* One of the two functions. */
struct optimizer_rule {
    int slots; /* numbers of state a parameter */
    /* optimizer_step on [begin, end) in one thread: every element by itself, so that the bits do
     * not depend on how the range is cut. */
    void (*update)(const struct optimizer *o, real *params, const real *grads, size_t begin,
                   size_t end, uint64_t step, double lr);
    /* The same of one tensor, whose norms are taken in one thread and a fixed order. */
    void (*update_tensor)(const struct optimizer *o, const struct tensor_desc *tensor, real *params,
                          const real *grads, uint64_t step, double lr);
};

#define OPTIMIZER(name, summary) extern const struct optimizer_rule optimizer_##name;
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER

/* What bias correction makes of Adam's rate and of the root of its second moments after `step`
 * steps: both depend on the step alone, so they are taken out of the loop as
 * lr m/(1-beta1^t) / (sqrt(v/(1-beta2^t)) + epsilon) = rate m / (sqrt(v)/root + epsilon). */
static inline double adam_rate(const struct optimizer *o, uint64_t step, double lr)
{
    return lr / (1 - pow(o->beta1, (double)step));
}

static inline double adam_root(const struct optimizer *o, uint64_t step)
{
    return sqrt(1 - pow(o->beta2, (double)step));
}

/* Sum of squares of x [n] in double, in a fixed order. */
double sum_squares(const real *x, size_t n);

/* Biases, and scales and shifts of a normalisation, are few and small: layer-wise rates leave them
 * at the plain rate and without decay, as the implementations of both papers do. */
static inline bool tensor_is_adapted(const struct tensor_desc *tensor)
{
    return !tensor->bias && !tensor->norm;
}

#endif
