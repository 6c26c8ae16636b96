/* Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, as in PyTorch. The
 * moments depend on the gradient only. State: first moments, then second moments. */
#include "kernels/optimizers/tables.h"

static void adamw_update(const struct optimizer *o, real *params, const real *grads, size_t begin,
                         size_t end, uint64_t step, double lr)
{
    real *restrict p = params, *restrict m = o->state, *restrict v = o->state + o->n;
    const real *restrict g = grads;
    const real beta1 = (real)o->beta1, rest1 = (real)(1 - o->beta1);
    const real beta2 = (real)o->beta2, rest2 = (real)(1 - o->beta2);
    const real kept = (real)(1 - lr * o->weight_decay);
    const real rate = (real)adam_rate(o, step, lr);
    const real epsilon = (real)adam_epsilon(o, step);
    for (size_t i = begin; i < end; i++) {
        m[i] = beta1 * m[i] + rest1 * g[i];
        v[i] = beta2 * v[i] + rest2 * (g[i] * g[i]);
        p[i] = kept * p[i] - rate * m[i] / (real_sqrt(v[i]) + epsilon);
    }
}

const struct optimizer_rule SIMD_NAME(optimizer_adamw) = {.update = adamw_update};
