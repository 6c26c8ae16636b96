/* Stochastic gradient descent as PyTorch has it: v <- momentum v + (g + weight_decay p), p <- p -
 * lr v. The learning rate stays outside the velocity. */
#include "kernels/base/simd.h"
#include "kernels/optimizer_tables.h"

SIMD_CLONES static void sgd_update(const struct optimizer *o, real *params, const real *grads,
                                   size_t begin, size_t end, uint64_t step, double lr)
{
    (void)step;
    real *restrict p = params, *restrict v = o->state;
    const real *restrict g = grads;
    const real momentum = (real)o->momentum, decay = (real)o->weight_decay, rate = (real)lr;
    for (size_t i = begin; i < end; i++) {
        v[i] = momentum * v[i] + (g[i] + decay * p[i]);
        p[i] -= rate * v[i];
    }
}

const struct optimizer_rule optimizer_sgd = {.slots = 1, .update = sgd_update};
