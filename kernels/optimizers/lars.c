/* You, Gitman, Ginsburg, "Large batch training of convolutional networks", 2017: the rate of each
 * tensor is trust ||p|| / (||g|| + weight_decay ||p||), 1 where a norm is 0, and stays inside the
 * velocity as the paper has it: v <- momentum v + lr ratio (g + weight_decay p), p <- p - v. */
#include "kernels/optimizers/tables.h"

static double trust_ratio(const struct optimizer *o, const real *p, const real *g, size_t n)
{
    double weights = sqrt(sum_squares(p, n)), gradient = sqrt(sum_squares(g, n));
    if (weights == 0 || gradient == 0)
        return 1;
    return o->trust * weights / (gradient + o->weight_decay * weights);
}

static void lars_update(const struct optimizer *o, const struct tensor_desc *tensor, real *params,
                        const real *grads, uint64_t step, double lr)
{
    bool adapted = tensor_is_adapted(tensor);
    real *restrict p = params + tensor->offset, *restrict v = o->state + tensor->offset;
    const real *restrict g = grads + tensor->offset;
    const real momentum = (real)o->momentum, decay = adapted ? (real)o->weight_decay : 0;
    const real rate = (real)(lr * (adapted ? trust_ratio(o, p, g, tensor->count) : 1));
    for (size_t i = 0; i < tensor->count; i++) {
        v[i] = momentum * v[i] + rate * (g[i] + decay * p[i]);
        p[i] -= v[i];
    }
}

const struct optimizer_rule SIMD_NAME(optimizer_lars) = {.slots = 1, .update_tensor = lars_update};
