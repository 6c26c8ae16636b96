/* delayed: gradients are applied one step late (Langford, Smola and Zinkevich, "Slow learners are
 * fast", 2009, with a delay of one): the sum of step t is on its way while step t + 1 computes, and
 * step t + 1 ends with the optimizer on the sum of step t, with the rate and number of step t.
 *
 * Costs one call of all n numbers a step, all of which may be hidden behind the next step, and a
 * second buffer: backward fills one while the other is being summed. Reading a buffer before its sum
 * is complete would be an error, not asynchrony. What lets the library move the sum while a step
 * computes is sync.overlap.
 *
 * All ranks see the same sums: replicas are equal to the bit. Clipping is by the norm of the sum that
 * is applied. The first step applies nothing, and the sum of the last one stays on its way: it is
 * part of a checkpoint. */
#include <limits.h>
#include <string.h>

#include "comm/strategy.h"

#define OPERATION "allreduce of the last step's gradients"

/* What a checkpoint holds: this, then the sum [n]. */
struct head {
    uint64_t waits; /* 1: a sum was not applied yet; 0: step and lr mean nothing */
    uint64_t step;
    double lr;
};

struct flight {
    struct head of;     /* the step whose sum is on its way, or has come */
    real *buffer;       /* [n]: its gradients; s->arenas.grads is the other buffer */
    struct pending sum; /* of `buffer` */
    struct head *saved; /* a head and [n] numbers */
};

static size_t saved_bytes(const struct sync *s)
{
    return sizeof(struct head) + s->arenas.n * sizeof(real);
}

static enum status start(struct sync *s, struct error *e)
{
    struct flight *f = s->context;
    f->sum = (struct pending){.values = f->buffer,
                              .count = s->arenas.n,
                              .type = MPI_REAL_TYPE,
                              .op = MPI_SUM,
                              .comm = s->comm,
                              .operation = OPERATION};
    return pending_begin(s->waiter, &f->sum, e);
}

static enum status finish(struct sync *s, struct error *e)
{
    struct flight *f = s->context;
    return pending_wait(s->waiter, &f->sum, e);
}

static bool delayed_poll(struct sync *s)
{
    struct flight *f = s->context;
    bool on_its_way = f->sum.active;
    pending_test(s->waiter, &f->sum);
    return on_its_way;
}

static void swap_buffers(struct sync *s)
{
    struct flight *f = s->context;
    real *filled = s->arenas.grads;
    s->arenas.grads = f->buffer;
    f->buffer = filled;
}

/* ---- Hooks ---- */

static enum status delayed_create(struct sync *s, struct error *e)
{
    struct flight *f = s->context;
    if (s->arenas.n > INT_MAX)
        return error_set(e, ERR_ARGUMENT, "%zu gradients; MPI sums at most %d in one call",
                         s->arenas.n, INT_MAX);
    TRY(arenas_alloc(&s->arenas, e));
    TRY(MEM_NEW_ALIGNED(f->buffer, s->arenas.n, "a second buffer of gradients", e));
    TRY(MEM_KEEP(&s->memory, f->saved, saved_bytes(s) / sizeof *f->saved + 1,
                 "a delayed sum to save", e));
    for (int i = 0; i < SYNC_WARM_CALLS; i++) {
        TRY(start(s, e));
        TRY(finish(s, e));
    }
    return OK;
}

/* The buffer that `finish` completes is free for the next backward once it has been applied. */
static enum status delayed_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                    double lr, struct error *e)
{
    struct flight *f = s->context;
    const struct head due = f->of;
    enum status status = OK;
    sync_comm_begin(s);
    if (due.waits)
        status = finish(s, e);
    if (status == OK) {
        swap_buffers(s);
        status = start(s, e);
    }
    if (status == OK)
        f->of = (struct head){.waits = 1, .step = step, .lr = lr};
    sync_comm_end(s);
    if (!due.waits || status != OK)
        return status;
    return sync_update(s, o, due.step, due.lr, e);
}

static enum status delayed_save(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    struct flight *f = s->context;
    enum status status = f->of.waits ? finish(s, e) : OK;
    f->saved[0] = f->of;
    memcpy(f->saved + 1, f->buffer, s->arenas.n * sizeof *f->buffer);
    *data = f->saved;
    *bytes = saved_bytes(s);
    return status;
}

static enum status delayed_restore(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    struct flight *f = s->context;
    enum status status = f->of.waits ? finish(s, e) : OK;
    f->of = (struct head){.waits = 0};
    if (status != OK || bytes == 0)
        return status;
    if (bytes != saved_bytes(s))
        return error_set(e, ERR_DATA, "a delayed sum of %zu bytes; this net's takes %zu", bytes,
                         saved_bytes(s));
    memcpy(&f->of, data, sizeof f->of);
    memcpy(f->buffer, (const char *)data + sizeof f->of, bytes - sizeof f->of);
    return OK;
}

/* All ranks come here after the same steps, so what is on its way arrives. */
static void delayed_destroy(struct sync *s)
{
    struct flight *f = s->context;
    struct error e;
    if (f->sum.active)
        finish(s, &e);
    mem_free(f->buffer);
}

const struct strategy strategy_delayed = {
    .context_bytes = sizeof(struct flight),
    .create = delayed_create,
    .poll = delayed_poll,
    .step_end = delayed_step_end,
    .save = delayed_save,
    .restore = delayed_restore,
    .destroy = delayed_destroy,
};
