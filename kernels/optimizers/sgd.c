/* Stochastic gradient descent as in PyTorch, without dampening: v <- momentum v + (g + weight_decay
 * p), p <- p - lr v. With Nesterov momentum: p <- p - lr (g + weight_decay p + momentum v). With
 * decoupled decay (Loshchilov and Hutter, 2019), the term weight_decay p is left out, and p <- (1 -
 * lr weight_decay) p before the step. */
#include "kernels/optimizers/tables.h"

static void sgd_update(const struct optimizer *o, real *params, const real *grads, size_t begin,
                       size_t end, uint64_t step, double lr)
{
    real *restrict p = params, *restrict v = o->state;
    const real *restrict g = grads;
    const real momentum = (real)o->momentum, rate = (real)lr;
    const real decay = o->decoupled ? 0 : (real)o->weight_decay;
    const real kept = o->decoupled ? (real)(1 - lr * o->weight_decay) : 1;
    const real of_gradient = o->nesterov ? 1 : 0, of_velocity = o->nesterov ? momentum : 1;
    for (size_t i = begin; i < end; i++) {
        real gradient = g[i] + decay * p[i];
        v[i] = momentum * v[i] + gradient;
        p[i] = kept * p[i] - rate * (of_gradient * gradient + of_velocity * v[i]);
    }
}

const struct optimizer_rule SIMD_NAME(optimizer_sgd) = {.update = sgd_update};
