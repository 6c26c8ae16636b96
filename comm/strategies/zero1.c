/* zero1: ZeRO stage 1 (Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
 * models", 2020) by messages, on any nodes. Each rank keeps the optimizer's state of one shard of the
 * numbers, an equal part, and steps on that alone. A ring does half of its work on gradients, after which a
 * rank holds the sum of its shard, and the other half on parameters, which hands out what ranks have
 * stepped on: 2 (p - 1) / p n numbers a rank, as a ring that sums.
 *
 * The state is reserved for all numbers, so that an index means the same everywhere, but takes memory
 * for the shard alone: pages that were never written take none. A checkpoint brings the state together
 * at rank 0, and a restored one all of it to every rank; the next step gives back what is others'. */
#include "comm/compress.h"
#include "comm/cost/strategies/ring.h"
#include "comm/local_ops.h"
#include "comm/strategies/point_to_point.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

struct zero1 {
    struct point_to_point ring;
    struct message *parts; /* [ranks]: shards of a checkpoint */
    double *norms2;        /* [2 n_tensors] for optimizers that go by norms of tensors */
    bool is_whole;         /* this rank's state has more than its shard */
};

static void shard_of(const struct sync *s, int rank, size_t *begin, size_t *end)
{
    pool_share(s->arenas.n, (size_t)ring_block(rank, s->ranks), (size_t)s->ranks, begin, end);
}

/* ---- The state ---- */

static void give_back_others(struct sync *s)
{
    struct zero1 *z = s->context;
    struct arenas *a = &s->arenas;
    size_t begin, end;
    if (!z->is_whole)
        return;
    shard_of(s, s->rank, &begin, &end);
    for (size_t k = 0; k < (size_t)a->slots; k++) {
        real *slot = a->state + k * a->n;
        mem_give_back(slot, begin * sizeof *slot);
        mem_give_back(slot + end, (a->n - end) * sizeof *slot);
    }
    z->is_whole = false;
}

/* Its shard is touched, so that no page of it is missing in a step. Small memory was used before: what others own is
 * given back at once. */
static enum status reserve_state(struct sync *s, struct error *e)
{
    struct zero1 *z = s->context;
    struct arenas *a = &s->arenas;
    size_t begin, end;
    TRY(MEM_NEW(a->state, a->n * (size_t)a->slots, "optimizer state", e));
    shard_of(s, s->rank, &begin, &end);
    for (size_t k = 0; k < (size_t)a->slots; k++)
        local_fill(s->exec, a->state + k * a->n + begin, end - begin, 0);
    z->is_whole = true;
    give_back_others(s);
    return OK;
}

/* Empty messages are not sent; both sides know which are empty. */
static void add_part(const struct sync *s, real *slot, int owner, int peer, int *n)
{
    const struct zero1 *z = s->context;
    size_t begin, end;
    shard_of(s, owner, &begin, &end);
    if (end > begin)
        z->parts[(*n)++] = (struct message){
            .data = slot + begin, .bytes = (end - begin) * sizeof *slot, .rank = peer};
}

static enum status gather_slot(struct sync *s, real *slot, struct error *e)
{
    static const char operation[] = "optimizer state of a shard";
    const struct zero1 *z = s->context;
    int n = 0;
    if (s->rank > 0) {
        add_part(s, slot, s->rank, 0, &n);
        return wait_send(s->waiter, z->parts, n, s->comm, operation, e);
    }
    for (int r = 1; r < s->ranks; r++)
        add_part(s, slot, r, r, &n);
    return wait_receive(s->waiter, z->parts, n, s->comm, operation, e);
}

/* ---- Hooks ---- */

static enum status zero1_create(struct sync *s, struct error *e)
{
    struct zero1 *z = s->context;
    TRY(MEM_KEEP(&s->memory, z->parts, (size_t)s->ranks, "messages of all ranks", e));
    TRY(MEM_KEEP(&s->memory, z->norms2, 2 * (size_t)s->arenas.n_tensors, "norms of tensors", e));
    TRY(reserve_state(s, e));
    TRY(arenas_alloc(&s->arenas, e));
    return point_to_point_open(s, e);
}

static double zero1_norm2_local(struct sync *s)
{
    size_t begin, end;
    shard_of(s, s->rank, &begin, &end);
    return local_norm2(s->exec, s->arenas.grads + begin, end - begin);
}

static enum status zero1_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                  double lr, struct error *e)
{
    const struct zero1 *z = s->context;
    int rounds = schedule_rounds(&z->ring.schedule);
    size_t begin, end;
    shard_of(s, s->rank, &begin, &end);
    const struct span shard = {.begin = begin, .n = end - begin};
    give_back_others(s);
    TRY(point_to_point_rounds(s, s->arenas.grads, 0, rounds / 2, e));
    TRY(sync_finish_sum(s, o, begin, end, e));
    TRY(sync_optimize_shares(s, o, &shard, 1, step, lr, z->norms2, e));
    return point_to_point_rounds(s, s->arenas.params, rounds / 2, rounds, e);
}

static enum status zero1_save(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    struct zero1 *z = s->context;
    *data = NULL;
    *bytes = 0;
    z->is_whole = true;
    for (size_t k = 0; k < (size_t)s->arenas.slots; k++)
        TRY(gather_slot(s, s->arenas.state + k * s->arenas.n, e));
    return OK;
}

static enum status zero1_restore(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    struct zero1 *z = s->context;
    TRY(sync_keeps_nothing(s, bytes, e));
    z->is_whole = true;
    return OK;
}

const struct strategy strategy_zero1 = {
    .context_bytes = sizeof(struct zero1),
    .create = zero1_create,
    .norm2_local = zero1_norm2_local,
    .step_end = zero1_step_end,
    .save = zero1_save,
    .restore = zero1_restore,
};
