/* Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, with the weight decay
 * added to the gradient and epsilon outside the root, as in PyTorch. State: first, then second
 * moments. */
#include <math.h>

#include "kernels/base/simd.h"
#include "kernels/optimizer_tables.h"

#ifdef SCALEBENCH_F64
#define real_sqrt sqrt
#else
#define real_sqrt sqrtf
#endif

/* Both bias corrections depend on the step alone, so they are taken out of the loop:
 * lr m/(1-beta1^t) / (sqrt(v/(1-beta2^t)) + epsilon). */
SIMD_CLONES static void adam_update(const struct optimizer *o, real *params, const real *grads,
                                    size_t begin, size_t end, uint64_t step, double lr)
{
    real *restrict p = params, *restrict m = o->state, *restrict v = o->state + o->n;
    const real *restrict g = grads;
    const real beta1 = (real)o->beta1, rest1 = (real)(1 - o->beta1);
    const real beta2 = (real)o->beta2, rest2 = (real)(1 - o->beta2);
    const real decay = (real)o->weight_decay, epsilon = (real)o->epsilon;
    const real rate = (real)(lr / (1 - pow(o->beta1, (double)step)));
    const real root = (real)sqrt(1 - pow(o->beta2, (double)step));
    for (size_t i = begin; i < end; i++) {
        real gradient = g[i] + decay * p[i];
        m[i] = beta1 * m[i] + rest1 * gradient;
        v[i] = beta2 * v[i] + rest2 * (gradient * gradient);
        p[i] -= rate * m[i] / (real_sqrt(v[i]) / root + epsilon);
    }
}

const struct optimizer_rule optimizer_adam = {.slots = 2, .update = adam_update};
