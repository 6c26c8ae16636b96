/* You et al., "Large batch optimization for deep learning", ICLR 2020. Adam's direction with decay
 * is r = m'/(sqrt(v') + epsilon) + weight_decay p, with bias-corrected moments m' and v'. For each
 * tensor, r is scaled by ||p|| / ||r||, or by 1 if a norm is 0. Biases and batch norm are not
 * scaled or decayed. r is computed twice, to save memory. State: first moments, then second
 * moments. */
#include "kernels/optimizers/tables.h"

#define BLOCK ((size_t)256)

/* Constants of a step, and the arrays of a tensor or of a part of it. */
struct lamb_call {
    real *m, *v;
    const real *p, *g;
    size_t count;
    real beta1, rest1, beta2, rest2, correction, epsilon, decay;
};

static struct lamb_call call_begin(const struct optimizer *o, const struct tensor_desc *tensor,
                                   const real *params, const real *grads, size_t begin, size_t end,
                                   uint64_t step)
{
    return (struct lamb_call){
        .p = params + begin,
        .m = o->state + begin,
        .v = o->state + o->n + begin,
        .g = grads + begin,
        .count = end - begin,
        .beta1 = (real)o->beta1,
        .rest1 = (real)(1 - o->beta1),
        .beta2 = (real)o->beta2,
        .rest2 = (real)(1 - o->beta2),
        .correction = (real)adam_rate(o, step, 1),
        .epsilon = (real)adam_epsilon(o, step),
        .decay = tensor_is_adapted(tensor) ? (real)o->weight_decay : 0,
    };
}

static void update_moments(const struct lamb_call *call)
{
    const struct lamb_call c = *call;
    real *restrict m = c.m, *restrict v = c.v;
    const real *restrict g = c.g;
    for (size_t i = 0; i < c.count; i++) {
        m[i] = c.beta1 * m[i] + c.rest1 * g[i];
        v[i] = c.beta2 * v[i] + c.rest2 * (g[i] * g[i]);
    }
}

/* Sets r [end - begin] to the update direction of parameters [begin, end). */
static void direction(real *restrict r, const struct lamb_call *call, size_t begin, size_t end)
{
    const struct lamb_call c = *call;
    const real *restrict m = c.m, *restrict v = c.v, *restrict p = c.p;
    for (size_t i = begin; i < end; i++)
        r[i - begin] = c.correction * m[i] / (real_sqrt(v[i]) + c.epsilon) + c.decay * p[i];
}

static size_t block_end(const struct lamb_call *call, size_t begin)
{
    return call->count - begin > BLOCK ? begin + BLOCK : call->count;
}

static void lamb_norms(const struct optimizer *o, const struct tensor_desc *tensor,
                       const real *params, const real *grads, size_t begin, size_t end,
                       uint64_t step, double norms2[2])
{
    const struct lamb_call call = call_begin(o, tensor, params, grads, begin, end, step);
    real r[BLOCK];
    update_moments(&call);
    if (!tensor_is_adapted(tensor))
        return;
    norms2[0] = sum_squares(call.p, call.count);
    norms2[1] = 0;
    for (size_t from = 0; from < call.count; from += BLOCK) {
        size_t to = block_end(&call, from);
        direction(r, &call, from, to);
        norms2[1] += sum_squares(r, to - from);
    }
}

static double trust_ratio(const double norms2[2])
{
    return norms2[0] == 0 || norms2[1] == 0 ? 1 : sqrt(norms2[0]) / sqrt(norms2[1]);
}

static void lamb_update(const struct optimizer *o, const struct tensor_desc *tensor, real *params,
                        const real *grads, size_t begin, size_t end, uint64_t step, double lr,
                        const double norms2[2])
{
    const struct lamb_call call = call_begin(o, tensor, params, grads, begin, end, step);
    const real rate = (real)(lr * (tensor_is_adapted(tensor) ? trust_ratio(norms2) : 1));
    real r[BLOCK], *p = params + begin;
    for (size_t from = 0; from < call.count; from += BLOCK) {
        size_t to = block_end(&call, from);
        direction(r, &call, from, to);
        for (size_t i = from; i < to; i++)
            p[i] -= rate * r[i - from];
    }
}

const struct optimizer_rule SIMD_NAME(optimizer_lamb) = {.norms = lamb_norms,
                                                         .update_part = lamb_update};
