/* adasum (Maleki et al., "Scaling distributed training with adaptive summation", 2020): two
 * gradients a and b, tensor by tensor, become
 *
 *   (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b
 *
 * which is their sum where they are orthogonal and their mean where they are equal: the learning
 * rate need not grow with the number of ranks. Each gradient is the mean over a rank's samples.
 *
 * Costs log2 p messages of the whole gradient each way, and two more rounds where p is no power of
 * two: whole vectors go by recursive doubling, with partners 1, 2, 4 ... ranks away (comm/cost/strategies/recursive_doubling.c). Of ranks that are no power of two, the first 2 (p - 2^k) fold in pairs:
 * the even one hands its gradient to the odd one, which combines the two in the same way, and gets
 * the result back at the end.
 *
 * Both partners compute the same bits, since each product and each sum is commutative: replicas stay
 * equal. The optimizer, its state and clipping, by the norm of the combined gradient, are those of
 * allreduce. (The authors combine the optimizer's steps instead where the optimizer is not linear;
 * that is not done here.) */
#include <float.h>
#include <math.h>

#include "comm/local_ops.h"
#include "comm/strategies/point_to_point.h"

/* 1 - dot / 2 norm2; a gradient of zeroes takes nothing from the other. */
static double share(double dot, double norm2)
{
    return norm2 > sqrt(DBL_MIN) ? 1 - dot / (2 * norm2) : 1;
}

/* This rank's gradients and the received ones, which come whole, become one. */
static void combine(struct sync *s, real *own, const real *received, size_t count)
{
    sync_pack_begin(s);
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        real *a = own + t->offset;
        const real *b = received + t->offset;
        double dot = local_dot(s->exec, a, b, t->count);
        double a2 = local_dot(s->exec, a, a, t->count), b2 = local_dot(s->exec, b, b, t->count);
        local_combine(s->exec, a, (real)share(dot, a2), b, (real)share(dot, b2), t->count);
    }
    sync_pack_end(s);
}

static enum status adasum_create(struct sync *s, struct error *e)
{
    struct point_to_point *b = s->context;
    b->add = combine;
    TRY(arenas_alloc(&s->arenas, e));
    return point_to_point_open(b, s, e);
}

const struct strategy strategy_adasum = {
    .context_bytes = sizeof(struct point_to_point),
    .create = adasum_create,
    .sum_gradients = point_to_point_sum,
};
