/* adasum (Maleki et al., "Scaling distributed training with adaptive summation", 2020): two
 * gradients a and b, tensor by tensor, become
 *
 *   (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b
 *
 * which is their sum where they are orthogonal and their mean where they are equal: the learning
 * rate need not grow with the number of ranks. Each gradient is the mean over a rank's samples.
 *
 * Costs log2 p messages of the whole gradient each way, and two more rounds where p is no power of
 * two: whole vectors go by recursive doubling, with partners 1, 2, 4 ... ranks away (adasum_rounds in
 * comm/cost/strategies/adasum.h). Of ranks that are no power of two, the first 2 (p - 2^k) fold in pairs:
 * the even one hands its gradient to the odd one, which combines the two in the same way, and gets
 * the result back at the end.
 *
 * Both partners compute the same bits, since each product and each sum is commutative: replicas stay
 * equal. The optimizer, its state and clipping, by the norm of the combined gradient, are those of
 * allreduce. (The authors combine the optimizer's steps instead where the optimizer is not linear;
 * that is not done here.) */
#include <float.h>
#include <math.h>

#include "comm/cost/strategies/adasum.h"
#include "comm/local_ops.h"
#include "comm/strategy.h"

struct adasum {
    real *received; /* [n] a partner's gradients */
};

/* 1 - dot / 2 norm2; a gradient of zeroes takes nothing from the other. */
static double share(double dot, double norm2)
{
    return norm2 > sqrt(DBL_MIN) ? 1 - dot / (2 * norm2) : 1;
}

/* This rank's gradients and the received ones become one. */
static void combine(struct sync *s, const real *received)
{
    sync_pack_begin(s);
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        real *a = s->arenas.grads + t->offset;
        const real *b = received + t->offset;
        double dot = local_dot(s->exec, a, b, t->count);
        double a2 = local_dot(s->exec, a, a, t->count), b2 = local_dot(s->exec, b, b, t->count);
        local_combine(s->exec, a, (real)share(dot, a2), b, (real)share(dot, b2), t->count);
    }
    sync_pack_end(s);
}

static enum status run_round(struct sync *s, const struct adasum_round *round, struct error *e)
{
    size_t bytes = s->arenas.n * sizeof(real);
    const struct adasum *a = s->context;
    real *to = round->combines ? a->received : s->arenas.grads;
    struct message send = {.data = s->arenas.grads, .bytes = bytes, .rank = round->partner};
    struct message receive = {.data = to, .bytes = bytes, .rank = round->partner};
    const struct exchange x = {.sends = &send,
                               .receives = &receive,
                               .n_sends = round->sends,
                               .n_receives = round->receives,
                               .comm = s->comm,
                               .operation = "adasum of the gradients"};
    TRY(sync_exchange(s, &x, e));
    if (round->combines)
        combine(s, to);
    return OK;
}

static enum status adasum_combine_all(struct sync *s, struct error *e)
{
    for (int i = 0; i < adasum_rounds(s->ranks); i++) {
        const struct adasum_round round = adasum_round(s->rank, s->ranks, i);
        TRY(run_round(s, &round, e));
    }
    return OK;
}

/* The first messages between two ranks are slow: here they are zeroes. */
static enum status adasum_create(struct sync *s, struct error *e)
{
    struct adasum *a = s->context;
    TRY(arenas_alloc(&s->arenas, e));
    TRY(MEM_KEEP(&s->memory, a->received, s->arenas.n, "a partner's gradients", e));
    return adasum_combine_all(s, e);
}

const struct strategy strategy_adasum = {
    .context_bytes = sizeof(struct adasum),
    .create = adasum_create,
    .sum_gradients = adasum_combine_all,
};
