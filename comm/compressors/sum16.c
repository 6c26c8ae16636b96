/* fp16, bf16: every rank rounds its gradients to 16 bits and sends every other rank one share (1/p)
 * of them. The receiver adds the shares in full precision, in the order of ranks, rounds the sum to
 * 16 bits and sends it to all. Each number is therefore rounded twice for any number of ranks; a
 * ring would round at every hop. The sum is the same on every rank. The error of the sum of numbers
 * x is bounded:
 *
 *   |error| <= (2 u + u^2 + (p-1) eps (1 + u)) sum |x|,  u = 2^-11 in fp16, 2^-8 in bf16,
 *
 * where eps is the rounding error of full precision. In fp16, add (p + 1) 2^-25 / scale, since
 * 2^-25 is half the smallest fp16 number.
 *
 * Several sums may be in transit at the same time. Shares are sent in the order in which sums
 * start. Summed shares are sent in the same order, but on another communicator. In strategy
 * bucketed, no rank waits before all sums of the step have started. Other strategies finish each
 * sum before the next starts.
 *
 * fp16: half precision. Its smallest number is 6e-8 and gradients are small, so sync.fp16_scale
 * scales them up for sending. Numbers above 65504 / scale become infinite in the sum; `infinite` in
 * struct sync counts them.
 *
 * bf16: the upper half of a float, with 8 significant bits and the range of float. */
#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/cast16.h"

/* A sum that was started. `scatter` sends each rank its share of the numbers; `gather` sends the
 * summed shares to all ranks. */
struct sum_started {
    struct span span;
    uint16_t *received; /* [ranks - 1][share] each other rank's contribution to this rank's share */
    struct exchanger scatter, gather;
};

struct sum16 {
    const struct cast16_functions *functions;
    const struct cast16 *cast;
    float scale;
    bool counts_infinite;
    /* communicator for the gathers, so that MPI cannot match them with scatters of later sums */
    MPI_Comm gathers;
    struct sum_started *sums; /* [n_tensors] sums of the current step, in the order of starting;
                                 only the first `started` are in use, since one sum can cover
                                 several tensors */
    int started;              /* number of sums started in this step */
    int gathering,
        /* `gathering`: number of sums whose gather has begun. `complete`: number of sums whose
         * gather is known to be complete. */
        complete;
    uint16_t *wire;     /* [n] 16-bit gradients of this rank; their sum over ranks replaces them */
    uint16_t *received; /* [n + ranks * n_tensors] received shares of all sums */
    real *sum;          /* [longest share] buffer for adding shares in full precision */
};

static enum status open_sums(struct sync *s, struct error *e)
{
    struct sum16 *c = s->compression;
    size_t ranks = (size_t)s->ranks, room = s->arenas.n + ranks * (size_t)s->arenas.n_tensors;
    TRY(MEM_KEEP(&s->memory, c->sums, (size_t)s->arenas.n_tensors, "sums in 16 bits", e));
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        TRY(exchanger_open(&c->sums[i].scatter, s, e));
        TRY(exchanger_open(&c->sums[i].gather, s, e));
    }
    return MEM_KEEP(&s->memory, c->received, room, "received gradients in 16 bits", e);
}

static enum status sum16_create(struct sync *s, struct error *e)
{
    bool fp16 = s->config.compressor == COMPRESSOR_fp16;
    enum isa isa;
    const struct shares all = {.n = s->arenas.n};
    struct sum16 *c = s->compression;
    c->gathers = MPI_COMM_NULL;
    TRY(isa_choose(&isa, false, e));
    c->functions = cast16_get(isa);
    c->cast = local_cast16(fp16 ? PRECISION_fp16 : PRECISION_bf16, isa);
    c->scale = fp16 ? (float)s->config.options[SYNC_fp16_scale] : 1;
    c->counts_infinite = fp16;
    TRY(open_sums(s, e));
    TRY(MEM_KEEP(&s->memory, c->wire, s->arenas.n, "gradients in 16 bits", e));
    TRY(MEM_KEEP(&s->memory, c->sum, shares_count(&all, 0, s->ranks), "a share of the sum", e));
    return wait_comm_dup(s->waiter, s->comm, &c->gathers, "communicator of sums in 16 bits", e);
}

static void sum16_destroy(struct sync *s)
{
    struct sum16 *c = s->compression;
    if (c->gathers != MPI_COMM_NULL)
        MPI_Comm_free(&c->gathers);
}

static void encode(struct sync *s, uint16_t *y, const real *x, size_t n)
{
    const struct sum16 *c = s->compression;
    local_encode16(s->exec, c->cast, y, x, n, c->scale);
    if (c->counts_infinite)
        s->infinite += c->functions->count_infinite(y, n);
}

static struct shares shares_of(const struct sum16 *c, const struct sum_started *sum)
{
    return (struct shares){
        .data = c->wire + sum->span.begin, .n = sum->span.n, .width = sizeof *c->wire};
}

/* Adds up this rank's share from all ranks in the order of ranks, and rounds the result to 16
 * bits. */
static void sum_share(struct sync *s, const struct sum_started *sum)
{
    struct sum16 *c = s->compression;
    const struct shares v = shares_of(c, sum);
    size_t n = shares_count(&v, s->rank, s->ranks);
    uint16_t *mine = (uint16_t *)v.data + shares_begin(&v, s->rank, s->ranks);
    sync_pack_begin(s);
    for (int r = 0; r < s->ranks; r++) {
        const uint16_t *share = r == s->rank ? mine : exchange_received(s, &v, sum->received, r);
        if (r == 0)
            local_decode16(s->exec, c->cast, c->sum, share, n, 1 / c->scale);
        else
            local_add16(s->exec, c->cast, c->sum, share, n, 1 / c->scale);
    }
    encode(s, mine, c->sum, n);
    sync_pack_end(s);
}

/* Starts the sum of `tensors`. In the receive buffer, `ranks` extra numbers per tensor leave room
 * for rounded-up shares, so received shares of different sums do not overlap. */
static enum status sum16_start(struct sync *s, struct range tensors, struct error *e)
{
    struct sum16 *c = s->compression;
    struct sum_started *sum = &c->sums[c->started++];
    sum->span = span_of(&s->arenas, tensors);
    sum->received = c->received + sum->span.begin + (size_t)s->ranks * (size_t)tensors.first;
    const struct shares shares = shares_of(c, sum);
    sync_pack_begin(s);
    encode(s, shares.data, s->arenas.grads + sum->span.begin, shares.n);
    sync_pack_end(s);
    exchange_plan_scatter(s, &sum->scatter, &shares, sum->received, s->comm,
                          "exchange of gradients in 16 bits");
    return exchanger_begin(s, &sum->scatter, e);
}

/* Adds up this rank's share of the next sum and starts to send the result to all ranks. The scatter
 * of the sum must be complete. */
static enum status gather_next(struct sync *s, struct error *e)
{
    struct sum16 *c = s->compression;
    struct sum_started *sum = &c->sums[c->gathering++];
    const struct shares shares = shares_of(c, sum);
    sum_share(s, sum);
    exchange_plan_gather(s, &sum->gather, &shares, c->gathers,
                         "exchange of summed gradients in 16 bits");
    return exchanger_begin(s, &sum->gather, e);
}

/* Tests the started gather exchanges, then the scatter exchanges. Stops in each group at the first
 * incomplete exchange, since MPI_Test progresses the untested exchanges too. Returns whether any
 * sum was incomplete before the tests. */
static bool sum16_poll(struct sync *s)
{
    struct sum16 *c = s->compression;
    bool some = c->complete < c->started;
    while (c->complete < c->gathering && exchanger_test(s, &c->sums[c->complete].gather))
        c->complete++;
    for (int i = c->gathering; i < c->started && exchanger_test(s, &c->sums[i].scatter);)
        i++;
    return some;
}

static enum status sum16_advance(struct sync *s, struct error *e)
{
    struct sum16 *c = s->compression;
    bool arrived = c->gathering < c->started;
    while (arrived) {
        sync_call_begin(s);
        arrived = exchanger_test(s, &c->sums[c->gathering].scatter);
        sync_call_end(s);
        if (arrived)
            TRY(gather_next(s, e));
        arrived = arrived && c->gathering < c->started;
    }
    return OK;
}

static enum status await(struct sync *s, struct exchanger *x, struct error *e)
{
    sync_comm_begin(s);
    enum status status = exchanger_wait(s, x, e);
    sync_comm_end(s);
    return status;
}

static void take(struct sync *s, const struct sum_started *sum)
{
    const struct sum16 *c = s->compression;
    const struct shares shares = shares_of(c, sum);
    sync_pack_begin(s);
    local_decode16(s->exec, c->cast, s->arenas.grads + sum->span.begin, shares.data, shares.n,
                   1 / (c->scale * (float)s->loss_scale.value));
    sync_pack_end(s);
}

static enum status sum16_finish(struct sync *s, struct error *e)
{
    struct sum16 *c = s->compression;
    for (int i = 0; i < c->started; i++) {
        TRY(await(s, &c->sums[i].scatter, e));
        if (i == c->gathering)
            TRY(gather_next(s, e));
    }
    for (int i = 0; i < c->started; i++) {
        TRY(await(s, &c->sums[i].gather, e));
        take(s, &c->sums[i]);
    }
    c->started = c->gathering = c->complete = 0;
    return OK;
}

static enum status sum16(struct sync *s, struct range tensors, struct error *e)
{
    TRY(sum16_start(s, tensors, e));
    return sum16_finish(s, e);
}

#define HOOKS                                                                                      \
    {                                                                                              \
        .context_bytes = sizeof(struct sum16), .create = sum16_create, .sum = sum16,               \
        .start = sum16_start, .advance = sum16_advance, .poll = sum16_poll,                        \
        .finish = sum16_finish, .destroy = sum16_destroy,                                          \
    }

const struct compressor compressor_fp16 = HOOKS;
const struct compressor compressor_bf16 = HOOKS;
