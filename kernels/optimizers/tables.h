/* Functions that each optimizer implements, and helpers for them. Internal to kernels/.
 *
 * All files in this folder except optimizer.c are compiled once per instruction set of isa.h. All
 * sets must give the same bits, so that ranks on different machines hold the same weights. Each
 * number is therefore computed by the same operations in the same order. Nothing is fused or
 * reassociated: -ffp-contract=off, no -ffast-math. No mathematical function is called except sqrt,
 * because others differ in their last bits between processors. */
#pragma once

#include <math.h>

#include "kernels/optimizers/optimizer.h"
#include "kernels/simd/simd.h"
#include "kernels/simd_tables.h"

#ifdef SCALEBENCH_F64
#define real_sqrt sqrt
#else
#define real_sqrt sqrtf
#endif

/* Functions of one optimizer: either `update`, or `norms` and `update_part`. */
struct optimizer_rule {
    /* Performs optimizer_step on [begin, end) in one thread. Elements are independent, so the bits
     * do not depend on how the range is split. */
    void (*update)(const struct optimizer *o, real *params, const real *grads, size_t begin,
                   size_t end, uint64_t step, double lr);
    /* Update [begin, end) of one tensor in two calls, `norms` first. Both use one thread and a
     * fixed order of operations. `norms` updates the state on which norms depend, and sets norms2
     * to two sums of squares (see optimizer_norms). It leaves norms2 unchanged if the tensor's
     * learning rate does not depend on norms. `update_part` needs norms2 summed over the whole
     * tensor. */
    void (*norms)(const struct optimizer *o, const struct tensor_desc *tensor, const real *params,
                  const real *grads, size_t begin, size_t end, uint64_t step, double norms2[2]);
    void (*update_part)(const struct optimizer *o, const struct tensor_desc *tensor, real *params,
                        const real *grads, size_t begin, size_t end, uint64_t step, double lr,
                        const double norms2[2]);
};

#define OPTIMIZER(name, norms, slots, summary) SIMD_DECLARE(struct optimizer_rule, optimizer_##name)
#include "kernels/desc/optimizers.def"

/* Returns `base` to the power n, by repeated squaring, because pow() gives different bits on
 * different processors. The relative error is below n roundings. */
static inline double whole_power(double base, uint64_t n)
{
    double power = 1;
    for (; n > 0; n /= 2, base *= base)
        if (n % 2 == 1)
            power *= base;
    return power;
}

/* Bias correction of Adam after t = `step` steps, outside the loop over parameters: lr
 * m/(1-beta1^t) / (sqrt(v/(1-beta2^t)) + epsilon) = rate m / (sqrt(v) + epsilon root). adam_root
 * returns root = sqrt(1-beta2^t), adam_rate returns rate = lr root/(1-beta1^t). */
static inline double adam_root(const struct optimizer *o, uint64_t step)
{
    return sqrt(1 - whole_power(o->beta2, step));
}

static inline double adam_epsilon(const struct optimizer *o, uint64_t step)
{
    return o->epsilon * adam_root(o, step);
}

static inline double adam_rate(const struct optimizer *o, uint64_t step, double lr)
{
    return lr * adam_root(o, step) / (1 - whole_power(o->beta1, step));
}

/* Returns the sum of squares of x [n] in double. The order is fixed: eight lanes on every
 * processor. */
static inline double sum_squares(const real *x, size_t n)
{
    enum { LANES = 8 };
    double lane[LANES] = {0}, rest = 0;
    size_t whole = n / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += (double)x[i + l] * (double)x[i + l];
    for (size_t i = whole; i < n; i++)
        rest += (double)x[i] * (double)x[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7])) + rest;
}

/* Returns whether layer-wise rates and decay apply to a tensor. Biases and normalisation tensors
 * are excluded, as in the published implementations of LARS and LAMB. */
static inline bool tensor_is_adapted(const struct tensor_desc *tensor)
{
    return !tensor->bias && !tensor->norm;
}
