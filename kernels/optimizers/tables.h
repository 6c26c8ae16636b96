/* What an optimizer is made of. Internal to kernels/.
 *
 * Files of this folder are compiled once for every instruction set of isa.h, as those of
 * kernels/simd are, but give the same bits for all of them, so that ranks on different machines
 * hold the same weights. That rests on three things. Each number is computed by the same
 * operations in the same order, and additions, multiplications, divisions and square roots of
 * IEEE 754 round the same at every vector width. Nothing is fused or reassociated:
 * -ffp-contract=off, no -ffast-math. And nothing of the mathematical library is called but sqrt:
 * others choose among variants of their own, whose last bits differ from processor to processor. */
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

/* The first function, or the other two. */
struct optimizer_rule {
    /* optimizer_step on [begin, end) in one thread: every element by itself, so that the bits do
     * not depend on how the range is cut. */
    void (*update)(const struct optimizer *o, real *params, const real *grads, size_t begin,
                   size_t end, uint64_t step, double lr);
    /* Or the same of [begin, end) of one tensor, after its norms, for which norms leaves what this part adds
     * to two sums of squares, in one thread and a fixed order; nothing where the tensor's rate goes by
     * none. */
    void (*norms)(const struct optimizer *o, const struct tensor_desc *tensor, const real *params,
                  const real *grads, size_t begin, size_t end, uint64_t step, double norms2[2]);
    void (*update_part)(const struct optimizer *o, const struct tensor_desc *tensor, real *params,
                        const real *grads, size_t begin, size_t end, uint64_t step, double lr,
                        const double norms2[2]);
};

#define OPTIMIZER(name, norms, slots, summary) SIMD_DECLARE(struct optimizer_rule, optimizer_##name)
#include "kernels/desc/optimizers.def"

/* base to the power n, by squaring: the bits of pow() differ between processors. Each of n factors
 * adds less than one rounding to the relative error. */
static inline double whole_power(double base, uint64_t n)
{
    double power = 1;
    for (; n > 0; n /= 2, base *= base)
        if (n % 2 == 1)
            power *= base;
    return power;
}

/* What bias correction makes of Adam's epsilon and rate after `step` steps: it depends on the step
 * alone, so it is taken out of the loop, and one of two divisions with it:
 * lr m/(1-beta1^t) / (sqrt(v/(1-beta2^t)) + epsilon) = rate m / (sqrt(v) + epsilon root), with
 * root = sqrt(1-beta2^t) and rate = lr root/(1-beta1^t). */
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

/* Sum of squares of x [n] in double, in a fixed order: of eight lanes, whatever a vector holds. */
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

/* Biases, and scales and shifts of a normalisation, are few and small: layer-wise rates leave them
 * at the plain rate and without decay, as the implementations of both papers do. */
static inline bool tensor_is_adapted(const struct tensor_desc *tensor)
{
    return !tensor->bias && !tensor->norm;
}
