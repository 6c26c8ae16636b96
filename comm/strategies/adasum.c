/* Adasum (Maleki et al., "Scaling distributed training with adaptive summation", 2020): two
 * gradients a and b, tensor by tensor, become
 *
 *   (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b
 *
 * which is their sum where they are orthogonal and their mean where they are equal: no learning
 * rate to scale with the number of ranks. Each gradient is the mean over a rank's samples.
 *
 * Whole vectors go by recursive doubling, with partners 1, 2, 4 ... ranks away; adasum_rounds in
 * comm/cost/strategies/adasum.h. Of ranks that are no power of two, the first 2 (p - 2^k) fold in pairs:
 * the even one hands its gradient to the odd one, which combines the two in the same way, and gets
 * the result back at the end. Both partners compute the same bits, since each product and each sum
 * is commutative: replicas stay equal. The optimizer, its state and clipping, by the norm of the
 * combined gradient, are those of allreduce. (The authors combine the optimizer's steps instead
 * where the optimizer is not linear; that is not done here.) */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "comm/cost/strategies/adasum.h"
#include "comm/local_ops.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Of 1 - dot / 2 norm2; a gradient that is nothing takes nothing from the other. */
static double share(double dot, double norm2)
{
    return norm2 > sqrt(DBL_MIN) ? 1 - dot / (2 * norm2) : 1;
}

/* This rank's gradients and the received ones become one. */
static void combine(struct sync *s, const real *theirs)
{
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        real *a = s->arenas.grads + t->offset;
        const real *b = theirs + t->offset;
        double dot = local_dot(s->exec, a, b, t->count);
        double a2 = local_dot(s->exec, a, a, t->count), b2 = local_dot(s->exec, b, b, t->count);
        local_combine(s->exec, a, (real)share(dot, a2), b, (real)share(dot, b2), t->count);
    }
    s->times.pack_ns += clock_ns() - begin_ns;
}

static enum status run_round(struct sync *s, const struct adasum_round *round, struct error *e)
{
    size_t bytes = s->arenas.n * sizeof(real);
    real *to = round->combines ? s->context : s->arenas.grads;
    struct message send = {.data = s->arenas.grads, .bytes = bytes, .rank = round->partner};
    struct message receive = {.data = to, .bytes = bytes, .rank = round->partner};
    const struct exchange x = {.sends = &send,
                               .receives = &receive,
                               .n_sends = round->sends,
                               .n_receives = round->receives,
                               .comm = s->comm,
                               .operation = "adasum of the gradients"};
    sync_comm_begin(s);
    enum status status = wait_exchange(s->waiter, &x, e);
    sync_comm_end(s);
    if (status == OK && round->combines)
        combine(s, to);
    return status;
}

static enum status combine_all(struct sync *s, struct error *e)
{
    enum status status = OK;
    for (int i = 0; i < adasum_rounds(s->ranks) && status == OK; i++) {
        const struct adasum_round round = adasum_round(s->rank, s->ranks, i);
        status = run_round(s, &round, e);
    }
    return status;
}

/* Messages between two ranks that have not spoken are slow: zeroes open the ways. */
static enum status adasum_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    s->context = mem_alloc(s->arenas.n * sizeof(real));
    if (s->context == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a partner's %zu gradients", s->arenas.n);
    return combine_all(s, e);
}

static enum status adasum_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                   double lr, struct error *e)
{
    enum status status = combine_all(s, e);
    return status == OK ? sync_update(s, o, step, lr, e) : status;
}

static void adasum_destroy(struct sync *s)
{
    mem_free(s->context);
    arenas_free(&s->arenas);
}

const struct strategy strategy_adasum = {
    .create = adasum_create,
    .step_end = adasum_step_end,
    .destroy = adasum_destroy,
};
