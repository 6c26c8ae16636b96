/* bucketed: sums gradients in buckets of tensors while backward continues, as PyTorch's DDP does.
 * Each complete bucket is summed in place by an MPI_Iallreduce. Buckets start in the same order on
 * every rank.
 *
 * With a compressor each bucket is compressed separately. Only 16-bit compressors overlap with
 * backward.
 *
 * Costs one call per bucket (sync.cap_mib, sync.first_cap_mib). A sum progresses only inside MPI
 * calls: when a later bucket starts, or when sync.overlap tests the buckets. */
#include <limits.h>

#include "comm/compress.h"
#include "comm/cost/strategies/bucketed.h"
#include "comm/strategy.h"

#define SUM "allreduce of a bucket"

struct bucket_in_flight {
    struct bucket bucket;
    struct pending sum;
};

struct buckets {
    struct bucket_in_flight *in_flight; /* [n] buckets, in the order in which they start */
    size_t n, left; /* `n`: number of buckets; `left`: index of the next bucket to start (all
                       buckets before it have started in this step) */
    /* the first `complete` buckets of in_flight are known to be complete */
    size_t complete;
};

static struct range tensors_of(const struct bucket *b)
{
    return (struct range){(int)b->first, (int)b->last};
}

/* Sums a bucket with a compressor that cannot overlap with computation. Each bucket sets arrive_ns
 * anew, because the last rank to arrive may change from bucket to bucket. */
static enum status sum_at_once(struct sync *s, const struct bucket *b, struct error *e)
{
    int64_t before_ns = s->times.comm_exposed_ns;
    s->times.arrive_ns = 0;
    TRY(sync_sum(s, tensors_of(b), SUM, e));
    if (s->times.arrive_ns != 0)
        s->times.arrive_ns -= before_ns;
    return OK;
}

static enum status start(struct sync *s, struct bucket_in_flight *b, struct error *e)
{
    if (s->compressor != NULL && s->compressor->start != NULL)
        return s->compressor->start(s, tensors_of(&b->bucket), e);
    if (s->compressor != NULL)
        return sum_at_once(s, &b->bucket, e);
    b->sum = (struct pending){.values = s->arenas.grads + s->arenas.tensors[b->bucket.first].offset,
                              .count = b->bucket.count,
                              .type = MPI_REAL_TYPE,
                              .op = MPI_SUM,
                              .comm = s->comm,
                              .operation = SUM};
    sync_call_begin(s);
    enum status status = pending_begin(s->waiter, &b->sum, e);
    sync_call_end(s);
    return status;
}

/* Starts every bucket whose tensors all have index `first` or higher, since their gradients are
 * complete. */
static enum status start_from(struct sync *s, size_t first, struct error *e)
{
    struct buckets *b = s->context;
    for (; b->left < b->n && b->in_flight[b->left].bucket.first >= first; b->left++)
        TRY(start(s, &b->in_flight[b->left], e));
    return OK;
}

/* Tests buckets in the order of their start, up to the first incomplete bucket. Later buckets need
 * no test, since one MPI_Test progresses all requests. Returns whether any sum was in transit
 * before the tests. With a compressor, returns the result of the compressor's `poll` instead, or
 * false if it has none. */
static bool bucketed_poll(struct sync *s)
{
    struct buckets *b = s->context;
    bool some = b->complete < b->left;
    if (s->compressor != NULL)
        return s->compressor->poll != NULL && s->compressor->poll(s);
    while (b->complete < b->left && pending_test(s->waiter, &b->in_flight[b->complete].sum))
        b->complete++;
    return some;
}

static enum status bucketed_finish(struct sync *s, struct error *e)
{
    struct buckets *b = s->context;
    enum status status = OK;
    if (s->compressor != NULL)
        return s->compressor->finish != NULL ? s->compressor->finish(s, e) : OK;
    sync_comm_begin(s);
    for (size_t i = 0; i < b->n && status == OK; i++)
        status = pending_wait(s->waiter, &b->in_flight[i].sum, e);
    sync_comm_end(s);
    b->complete = b->n;
    return status;
}

/* ---- Hooks ---- */

static enum status check_bucket(const struct bucket *b, struct error *e)
{
    if (b->count <= INT_MAX)
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "a bucket has %zu numbers, but MPI accepts at most %d in one call. Lower sync.cap_mib",
        b->count, INT_MAX);
}

static enum status cut_buckets(struct sync *s, struct error *e)
{
    size_t n = (size_t)s->arenas.n_tensors;
    struct buckets *b = s->context;
    TRY(MEM_KEEP(&s->memory, b->in_flight, n, "buckets of tensors", e));
    struct bucket next = bucket_first(&s->config, s->counts, n, sizeof(real));
    for (; next.first < next.last; next = bucket_next(&s->config, s->counts, sizeof(real), &next)) {
        TRY(check_bucket(&next, e));
        b->in_flight[b->n++] = (struct bucket_in_flight){.bucket = next};
    }
    return OK;
}

static void bucketed_step_begin(struct sync *s)
{
    struct buckets *b = s->context;
    b->left = b->complete = 0;
}

/* Sums zeros in each bucket once, to warm up connections. Uses plain MPI calls, since sync_sum
 * would change the saved state of a compressor. */
static enum status warm_blocking(struct sync *s, struct error *e)
{
    const struct buckets *b = s->context;
    for (size_t i = 0; i < b->n; i++) {
        const struct bucket *bucket = &b->in_flight[i].bucket;
        real *grads = s->arenas.grads + s->arenas.tensors[bucket->first].offset;
        TRY(sync_allreduce(s, grads, bucket->count, SUM, e));
    }
    return OK;
}

/* Warms up connections by sums of zeros: one sum per bucket without a compressor, SYNC_WARM_CALLS
 * sums per bucket with a compressor. */
static enum status bucketed_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    TRY(cut_buckets(s, e));
    for (int i = 0; i < SYNC_WARM_CALLS && s->compressor != NULL; i++)
        TRY(warm_blocking(s, e));
    if (s->compressor != NULL)
        return OK;
    TRY(start_from(s, 0, e));
    return bucketed_finish(s, e);
}

static enum status bucketed_grad_ready(struct sync *s, struct range range, int micro, bool last,
                                       struct error *e)
{
    const struct compressor *compressor = s->compressor;
    if (last)
        TRY(start_from(s, (size_t)range.first, e));
    return compressor != NULL && compressor->advance != NULL ? compressor->advance(s, e) : OK;
}

const struct strategy strategy_bucketed = {
    .context_bytes = sizeof(struct buckets),
    .create = bucketed_create,
    .step_begin = bucketed_step_begin,
    .grad_ready = bucketed_grad_ready,
    .poll = bucketed_poll,
    .sum_gradients = bucketed_finish,
};
