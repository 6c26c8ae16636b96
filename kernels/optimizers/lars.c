/* You, Gitman, Ginsburg, "Large batch training of convolutional networks", 2017. The learning rate
 * of each tensor is multiplied by ratio = trust ||p|| / (||g|| + weight_decay ||p||), or by 1 if a
 * norm is 0. Biases and batch norm have ratio 1 and no decay. As in the paper, the velocity v
 * includes lr: v <- momentum v + lr ratio (g + weight_decay p), p <- p - v. */
#include "kernels/optimizers/tables.h"

static void lars_norms(const struct optimizer *o, const struct tensor_desc *tensor,
                       const real *params, const real *grads, size_t begin, size_t end,
                       uint64_t step, double norms2[2])
{
    if (!tensor_is_adapted(tensor))
        return;
    norms2[0] = sum_squares(params + begin, end - begin);
    norms2[1] = sum_squares(grads + begin, end - begin);
}

static double trust_ratio(const struct optimizer *o, const double norms2[2])
{
    double weights = sqrt(norms2[0]), gradient = sqrt(norms2[1]);
    if (weights == 0 || gradient == 0)
        return 1;
    return o->trust * weights / (gradient + o->weight_decay * weights);
}

static void lars_update(const struct optimizer *o, const struct tensor_desc *tensor, real *params,
                        const real *grads, size_t begin, size_t end, uint64_t step, double lr,
                        const double norms2[2])
{
    bool adapted = tensor_is_adapted(tensor);
    real *restrict p = params + begin, *restrict v = o->state + begin;
    const real *restrict g = grads + begin;
    const real momentum = (real)o->momentum, decay = adapted ? (real)o->weight_decay : 0;
    const real rate = (real)(lr * (adapted ? trust_ratio(o, norms2) : 1));
    for (size_t i = 0; i < end - begin; i++) {
        v[i] = momentum * v[i] + rate * (g[i] + decay * p[i]);
        p[i] -= v[i];
    }
}

const struct optimizer_rule SIMD_NAME(optimizer_lars) = {.norms = lars_norms,
                                                         .update_part = lars_update};
