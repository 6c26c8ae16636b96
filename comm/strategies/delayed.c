/* Gradients are applied one step late (Langford, Smola and Zinkevich, "Slow learners are fast",
 * 2009, with a delay of one): the sum of step t is on its way while step t + 1 computes, and what
 * ends step t + 1 is the optimizer on the sum of step t, with the rate and number of step t. Two
 * buffers take turns: backward fills one while the other is being summed. This is what a run may do
 * that does not wait for its asynchronous sum; to read the buffer before the sum has come would be
 * an error. Who lets the library move the sum while a step computes is sync.overlap.
 *
 * All ranks see the same sums: replicas are equal to the bit. Clipping is by the norm of the sum
 * that is applied. The first step applies nothing, and the sum of the last one stays on its way: it
 * is part of a checkpoint. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm/strategy.h"
#include "kernels/base/mem.h"

#define OPERATION "allreduce of the last step's gradients"

/* As in allreduce: the library's first calls on a communicator are others. */
#define WARM_CALLS 6

/* What a checkpoint keeps: this, then the sum [n]. */
struct head {
    uint64_t waits; /* 1: there is a sum that was not applied; else the rest says nothing */
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
    struct flight *f = s->context = calloc(1, sizeof *f);
    if (f == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a delayed sum");
    if (s->arenas.n > INT_MAX)
        return error_set(e, ERR_ARGUMENT, "%zu gradients; MPI sums at most %d in one call",
                         s->arenas.n, INT_MAX);
    enum status status = arenas_alloc(&s->arenas, e);
    if (status != OK)
        return status;
    f->buffer = mem_alloc(s->arenas.n * sizeof *f->buffer);
    f->saved = mem_alloc(saved_bytes(s));
    if (f->buffer == NULL || f->saved == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a second buffer of %zu gradients",
                         s->arenas.n);
    for (int i = 0; status == OK && i < WARM_CALLS; i++) {
        status = start(s, e);
        if (status == OK)
            status = finish(s, e);
    }
    return status;
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

/* All ranks come here after the same steps: what is on its way arrives. */
static void delayed_destroy(struct sync *s)
{
    struct flight *f = s->context;
    struct error e;
    if (f != NULL) {
        if (f->sum.active)
            finish(s, &e);
        mem_free(f->buffer);
        mem_free(f->saved);
        free(f);
    }
    arenas_free(&s->arenas);
}

const struct strategy strategy_delayed = {
    .create = delayed_create,
    .poll = delayed_poll,
    .step_end = delayed_step_end,
    .save = delayed_save,
    .restore = delayed_restore,
    .destroy = delayed_destroy,
};
