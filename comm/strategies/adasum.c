/* adasum (Maleki et al., "Scaling distributed training with adaptive summation", 2020) combines two
 * gradients a and b, tensor by tensor, into
 *
 *   (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b
 *
 * The result is the sum of a and b if they are orthogonal, and their mean if they are equal, so the
 * learning rate need not grow with the number of ranks. A rank's gradient is the mean over its
 * samples.
 *
 * Costs log2 p messages of the whole gradient in each direction, by recursive doubling
 * (comm/cost/strategies/recursive_doubling.c). If p is not a power of two, there are two more
 * rounds.
 *
 * Both partners of a round compute the same bits, since products and sums are commutative, so
 * replicas stay equal. Clipping uses the norm of the combined gradient. For non-linear optimizers
 * the authors combine the optimizer's steps instead; this is not implemented. */
#include <float.h>
#include <math.h>

#include "comm/local_ops.h"
#include "comm/strategies/point_to_point.h"

/* Returns a gradient's factor, 1 - dot / (2 norm2), or 1 if norm2 is almost 0. */
static double share(double dot, double norm2)
{
    return norm2 > sqrt(DBL_MIN) ? 1 - dot / (2 * norm2) : 1;
}

/* Combines this rank's gradients `own` with the gradients `received`, tensor by tensor. The result
 * is in `own`. */
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
