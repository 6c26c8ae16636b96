/* fusion: tensor fusion as in Horovod (Sergeev and Del Balso, "Horovod: fast and easy distributed
 * deep learning in TensorFlow", 2018). In cycles of sync.cycle_ms, ranks agree on the gradients
 * that are ready on all ranks. While backward continues, they sum these gradients in calls of at
 * most sync.fusion_mib; a larger tensor has a call of its own.
 *
 * Backward has the same order on every rank, unlike in Horovod. Ranks therefore agree by a
 * non-blocking minimum of the number of ready tensors (a question). Questions and sums start in the
 * same order on all ranks: a rank asks again only after it has started the sums of the last answer.
 * Fused tensors are contiguous in the arena and are summed in place.
 *
 * Costs one sum per group of tensors, and one minimum of a single number per question. During
 * backward, a ready tensor waits for the end of the cycle. Without cycles (0 ms), each tensor is
 * summed separately, without questions. */
#include <limits.h>

#include "comm/cost/strategies/fusion.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"

#define QUESTION "agreement on tensors to fuse"

struct fusion {
    struct pending *sums; /* [n_tensors] sums of the current step, in the order of starting */
    size_t n_sums;        /* number of sums started in this step */
    size_t complete;      /* number of sums at the start of `sums` that are known to be complete */
    /* Number of tensors with complete gradients, counted from the last tensor, since backward runs
     * in that order. `ready`: on this rank. `agreed`: on all ranks. */
    size_t ready, agreed;
    struct pending question;
    bool asking;
    int answer;        /* buffer of MPI_MIN: this rank's `ready`, then the minimum over ranks */
    uint64_t answered; /* number of allreduces (MPI_MIN) of `ready` completed in this step */
    int64_t origin_ns; /* start of the first cycle (clock_ns); cycles continue across steps */
    /* start (clock_ns) of the wait for the end of a cycle: when the first waiting tensor became
     * ready, or when sums were last started if that is later */
    int64_t since_ns;
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

/* Starts sums of the last `agreed` tensors, which are ready on every rank, except tensors whose
 * sums have already started. */
static void start_sums(struct sync *s, size_t agreed)
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
    start_sums(s, (size_t)f->answer);
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

/* Asks all ranks how many tensors are ready, until all tensors are ready on every rank. First makes
 * one empty wait for each answer received during backward, so that every rank makes the same number
 * of waits. */
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
                     "a sum has up to %zu numbers, but MPI accepts at most %d in one call. Lower "
                     "sync.fusion_mib",
                     most, INT_MAX);
}

/* Sums zeros once, because the first messages between two ranks are slow. */
static enum status fusion_create(struct sync *s, struct error *e)
{
    struct fusion *f = s->context;
    size_t n = (size_t)s->arenas.n_tensors;
    TRY(arenas_alloc(&s->arenas, e));
    TRY(MEM_KEEP(&s->memory, f->sums, n, "sums of tensors", e));
    TRY(check_counts(s, e));
    f->origin_ns = clock_ns();
    start_sums(s, n);
    return finish(s, e);
}

static enum status fusion_grad_ready(struct sync *s, struct range range, int micro, bool last,
                                     struct error *e)
{
    struct fusion *f = s->context;
    if (!last)
        return OK;
    sync_call_begin(s);
    if (f->ready == f->agreed)
        f->since_ns = clock_ns();
    f->ready = (size_t)(s->arenas.n_tensors - range.first);
    if (fusion_cycle_ns(&s->config) == 0)
        start_sums(s, f->ready);
    else
        fusion_poll(s);
    sync_call_end(s);
    return OK;
}

static enum status fusion_sum(struct sync *s, struct error *e)
{
    struct fusion *f = s->context;
    f->ready = (size_t)s->arenas.n_tensors;
    if (fusion_cycle_ns(&s->config) == 0)
        start_sums(s, f->ready);
    return finish(s, e);
}

const struct strategy strategy_fusion = {
    .context_bytes = sizeof(struct fusion),
    .create = fusion_create,
    .step_begin = fusion_step_begin,
    .grad_ready = fusion_grad_ready,
    .poll = fusion_poll,
    .sum_gradients = fusion_sum,
};
