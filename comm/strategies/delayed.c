/* delayed: applies gradients one step late (Langford, Smola and Zinkevich, "Slow learners are
 * fast", 2009). The sum of step t is in transit while step t + 1 computes. At the end of step t + 1
 * it is applied with the learning rate and step number of step t.
 *
 * Costs a second buffer and one sum of n gradients per step. The next step can hide the sum.
 *
 * Replicas are equal bit by bit. Gradients are clipped by the norm of the applied sum. The first
 * step applies nothing. The sum of the last step is not applied; it is part of a checkpoint. */
#include <limits.h>
#include <string.h>

#include "comm/strategy.h"

#define OPERATION "allreduce of the last step's gradients"

/* First bytes of the strategy's state in a checkpoint. The sum of the gradients [n] follows. */
struct head {
    /* 1: the sum of `step` has not been applied yet. 0: there is no such sum; step and lr are
     * unused. */
    uint64_t waits;
    uint64_t step;
    double lr;
};

struct flight {
    struct head of; /* whether a sum has yet to be applied, with the step and learning rate of that
                       sum */
    real *buffer;   /* [n] gradients being summed; backward writes to s->arenas.grads meanwhile */
    struct pending sum; /* the sum of `buffer` over ranks */
    struct head *saved; /* memory for the state in a checkpoint: head and [n] numbers */
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
        return error_set(e, ERR_ARGUMENT,
                         "the network has %zu gradients, but MPI sums at most %d in one call. Use "
                         "another strategy",
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

/* Starts the sum of this step and applies the sum of the previous step. The buffer of the previous
 * step is then free for the next backward pass. */
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
        return error_set(e, ERR_DATA,
                         "expected a delayed sum of %zu bytes for this network, found %zu",
                         saved_bytes(s), bytes);
    memcpy(&f->of, data, sizeof f->of);
    memcpy(f->buffer, (const char *)data + sizeof f->of, bytes - sizeof f->of);
    return OK;
}

/* Waits for a sum in transit. The sum completes, because all ranks end after the same number of
 * steps. */
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
