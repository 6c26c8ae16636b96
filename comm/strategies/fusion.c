/* Tensor fusion as Horovod does it: in cycles of sync.cycle_ms ranks find out which tensors all of
 * them have, and sum these in messages of at most sync.fusion_mib while backward goes on.
 *
 * Horovod's ranks may finish tensors in different orders, so that they exchange a bit for each.
 * Here backward goes the same way on every rank and what a rank has is the last so many tensors: a
 * non-blocking minimum of one number says as much. Sums and questions leave in the same order
 * everywhere, for a rank asks again only when it has carried out the last answer, and only for more
 * than that: every answer is news, and the last one, which is all tensors, is the last on every
 * rank. Tensors that follow each other do so in the arena as well: they are summed in place, where
 * Horovod copies them into a buffer of its own and back.
 *
 * A tensor waits for the end of the cycle that it was ready in; once backward is over a rank asks
 * at once. Without cycles (0 ms) there is nothing to ask: each tensor leaves by itself. */
#include <limits.h>
#include <stdlib.h>

#include "comm/cost/strategies/fusion.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"

#define QUESTION "agreement on tensors to fuse"

struct fusion {
    struct pending *sums; /* [tensors], in the order of leaving */
    size_t n_sums;        /* those that have left in this step */
    size_t complete;      /* of these, the first so many are known to be complete */
    /* Tensors, counted from the last: that this rank has, and that all of them do. */
    size_t ready, agreed;
    struct pending question;
    bool asking;
    int answer;        /* to the question: this rank's `ready`, then the minimum of all */
    uint64_t answered; /* questions of this step */
    int64_t origin_ns; /* cycles are counted from here */
    int64_t since_ns;  /* when the first tensor came that is not agreed on, or the last answer */
};

/* ---- Sums ---- */

static void start_sum(struct sync *s, const struct bucket *b)
{
    struct fusion *f = s->context;
    struct pending *sum = &f->sums[f->n_sums++];
    *sum = (struct pending){.values = s->arenas.grads + s->arenas.tensors[b->first].offset,
                            .count = b->count,
                            .type = MPI_REAL_TYPE,
                            .op = MPI_SUM,
                            .comm = s->comm,
                            .operation = "allreduce of fused tensors"};
    pending_begin_at_once(s->waiter, sum);
}

/* All ranks have `agreed` tensors: what of them has not left yet does so. */
static void carry_out(struct sync *s, size_t agreed)
{
    struct fusion *f = s->context;
    size_t n = (size_t)s->arenas.n_tensors;
    while (f->agreed < agreed) {
        struct bucket b =
            fusion_next(&s->config, s->counts, n - f->agreed, n - agreed, sizeof(real));
        start_sum(s, &b);
        f->agreed = n - b.first;
    }
    f->since_ns = clock_ns();
}

/* ---- Questions ---- */

static void ask(struct sync *s)
{
    struct fusion *f = s->context;
    f->asking = true;
    f->answer = (int)f->ready;
    f->question = (struct pending){.values = &f->answer,
                                   .count = 1,
                                   .type = MPI_INT,
                                   .op = MPI_MIN,
                                   .comm = s->comm,
                                   .operation = QUESTION};
    pending_begin_at_once(s->waiter, &f->question);
}

static void take_answer(struct sync *s)
{
    struct fusion *f = s->context;
    f->asking = false;
    f->answered++;
    carry_out(s, (size_t)f->answer);
}

static bool cycle_has_ended(const struct sync *s)
{
    const struct fusion *f = s->context;
    int64_t cycle_ns = fusion_cycle_ns(&s->config);
    return (clock_ns() - f->origin_ns) / cycle_ns > (f->since_ns - f->origin_ns) / cycle_ns;
}

static bool fusion_poll(struct sync *s)
{
    struct fusion *f = s->context;
    bool busy = f->asking || f->complete < f->n_sums;
    if (f->asking && pending_test(s->waiter, &f->question))
        take_answer(s);
    if (!f->asking && f->agreed < f->ready && cycle_has_ended(s))
        ask(s);
    while (f->complete < f->n_sums && pending_test(s->waiter, &f->sums[f->complete]))
        f->complete++;
    return busy || f->asking;
}

/* ---- The end of a step ---- */

/* Questions that were answered during backward get a wait here too, so that all ranks pass through
 * the same number of waits. */
static enum status finish_questions(struct sync *s, struct error *e)
{
    struct fusion *f = s->context;
    for (uint64_t i = f->answered; i > 0; i--)
        TRY(pending_wait(s->waiter, &(struct pending){.operation = QUESTION}, e));
    while (f->agreed < (size_t)s->arenas.n_tensors) {
        if (!f->asking)
            ask(s);
        TRY(pending_wait(s->waiter, &f->question, e));
        take_answer(s);
    }
    return OK;
}

static enum status finish(struct sync *s, struct error *e)
{
    struct fusion *f = s->context;
    sync_comm_begin(s);
    enum status status = finish_questions(s, e);
    for (size_t i = 0; i < f->n_sums && status == OK; i++)
        status = pending_wait(s->waiter, &f->sums[i], e);
    sync_comm_end(s);
    f->complete = f->n_sums;
    return status;
}

/* ---- Hooks ---- */

static void fusion_step_begin(struct sync *s)
{
    struct fusion *f = s->context;
    f->n_sums = f->complete = 0;
    f->ready = f->agreed = 0;
    f->answered = 0;
}

static enum status check_counts(const struct sync *s, struct error *e)
{
    size_t most = sync_option_bytes(&s->config, SYNC_fusion_mib) / sizeof(real);
    for (int i = 0; i < s->arenas.n_tensors; i++)
        most = s->counts[i] > most ? s->counts[i] : most;
    if (most <= INT_MAX || s->arenas.n <= INT_MAX)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "sums of up to %zu numbers; MPI takes at most %d in one call: lower "
                     "sync.fusion_mib",
                     most, INT_MAX);
}

/* One sum of zeroes opens the ways between ranks. */
static enum status fusion_create(struct sync *s, struct error *e)
{
    enum status status = arenas_alloc(&s->arenas, e);
    struct fusion *f = s->context = calloc(1, sizeof *f);
    size_t n = (size_t)s->arenas.n_tensors;
    if (f != NULL)
        f->sums = calloc(n + 1, sizeof *f->sums);
    if (status == OK && (f == NULL || f->sums == NULL))
        status = error_set(e, ERR_MEMORY, "no memory for sums of %zu tensors", n);
    if (status == OK)
        status = check_counts(s, e);
    if (status != OK)
        return status;
    f->origin_ns = clock_ns();
    carry_out(s, n);
    return finish(s, e);
}

static enum status fusion_grad_ready(struct sync *s, struct range range, int micro, bool last,
                                     struct error *e)
{
    struct fusion *f = s->context;
    (void)micro;
    (void)e;
    if (!last)
        return OK;
    sync_call_begin(s);
    if (f->ready == f->agreed)
        f->since_ns = clock_ns();
    f->ready = (size_t)(s->arenas.n_tensors - range.first);
    if (fusion_cycle_ns(&s->config) == 0)
        carry_out(s, f->ready);
    else
        fusion_poll(s);
    sync_call_end(s);
    return OK;
}

static enum status fusion_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                   double lr, struct error *e)
{
    struct fusion *f = s->context;
    f->ready = (size_t)s->arenas.n_tensors;
    if (fusion_cycle_ns(&s->config) == 0)
        carry_out(s, f->ready);
    enum status status = finish(s, e);
    return status == OK ? sync_update(s, o, step, lr, e) : status;
}

static void fusion_destroy(struct sync *s)
{
    struct fusion *f = s->context;
    if (f != NULL) {
        free(f->sums);
        free(f);
    }
    arenas_free(&s->arenas);
}

const struct strategy strategy_fusion = {
    .create = fusion_create,
    .step_begin = fusion_step_begin,
    .grad_ready = fusion_grad_ready,
    .poll = fusion_poll,
    .step_end = fusion_step_end,
    .destroy = fusion_destroy,
};
