/* zero2, zero3: stages 2 and 3 of ZeRO (Rajbhandari et al., "ZeRO: memory optimizations toward training
 * trillion parameter models", 2020) by messages, on any nodes. The arenas are cut into blocks of tensors
 * (comm/cost/strategies/zero.h), of which every rank owns an equal share.
 *
 * Gradients: as soon as backward has finished a block, each rank sends every other the share that it owns,
 * sums what it receives in the order of ranks, and gives back the memory of all but its own. Two blocks are
 * on their way at most; one that follows waits for the older one. Where a step has several micro-batches
 * they add up on each rank first, whole, and leave with the last, as FSDP's do under no_sync.
 *
 * Parameters: a rank steps on its shares, which at stage 2 are handed to all ranks at once. At stage 3 the
 * tensors of more than sync.zero_persist numbers are gathered before forward and before backward of the op
 * that reads them, while the one before computes, and given back after it.
 *
 * As in zero1, arenas are reserved whole, so that an index means the same everywhere, and take memory for
 * what is there: pages that were given back take none, and come anew in the step, which is the price.
 * Weights are drawn, evaluated and saved whole; what is others' is given back when the next step begins. */
#include "comm/cost/strategies/zero.h"
#include "comm/local_ops.h"
#include "comm/strategies/owned_block.h"
#include "kernels/base/mem.h"

/* Messages to and from all other ranks that are on their way together. */
struct flight {
    struct waiter *waiter;
    struct message *messages; /* [2 (ranks - 1)]: those to receive, then those to send */
    const char *operation;
    int n, n_receives, done; /* messages, and the first so many are complete */
    int code;                /* that the library's last call returned */
    bool active;             /* begun, and not waited for */
};

struct zero {
    struct owned_blocks blocks;
    struct flight *flights;       /* [blocks.n] */
    size_t left, summed;          /* blocks of gradients in this step */
    real *received[ZERO_FLIGHTS]; /* shares of a block from all other ranks, by turns */
    const real **terms;           /* [ranks] */
};

/* ---- Flights ---- */

/* Empty messages are not sent; both sides know which are empty. */
static void add_message(struct flight *f, real *data, size_t n, int rank)
{
    if (n > 0)
        f->messages[f->n++] = (struct message){
            .data = data, .bytes = n * sizeof *data, .rank = rank, .request = MPI_REQUEST_NULL};
}

static void flight_begin(const struct sync *s, struct flight *f, int n_receives,
                         const char *operation)
{
    f->operation = operation;
    f->active = true;
    f->n_receives = n_receives;
    f->done = 0;
    f->code = message_begin_receive(f->waiter, f->messages, n_receives, s->comm, operation);
    if (f->code == MPI_SUCCESS)
        f->code = message_begin_send(f->waiter, f->messages + n_receives, f->n - n_receives,
                                     s->comm, operation);
}

/* Also when it has failed. */
static bool flight_is_over(void *arg)
{
    struct flight *f = arg;
    bool done = true;
    while (done && f->done < f->n && f->code == MPI_SUCCESS) {
        f->code = message_test(f->waiter, &f->messages[f->done], &done);
        f->done += done;
    }
    return f->done == f->n || f->code != MPI_SUCCESS;
}

static enum status flight_finish(struct flight *f, struct error *e)
{
    if (!f->active)
        return OK;
    f->active = false;
    TRY(wait_until(f->waiter, flight_is_over, f, f->operation, e));
    return message_status(f->waiter, f->code, f->operation, e);
}

/* Before its memory goes, where an error has ended the step. */
static void flight_give_up(struct flight *f)
{
    for (int i = f->n_receives; i < f->n; i++)
        message_let_leave(f->waiter, &f->messages[i], f->operation);
    for (int i = 0; i < f->n_receives; i++)
        message_cancel(f->waiter, &f->messages[i]);
}

/* Each rank has its own order of peers, so that not all ranks begin with the same one. */
static int peer_at(const struct sync *s, int i)
{
    return (s->rank + i) % s->ranks;
}

/* ---- Gradients ---- */

static real *received_from(const struct sync *s, size_t k, int peer)
{
    const struct zero *z = s->context;
    size_t place = (size_t)((peer - s->rank + s->ranks) % s->ranks - 1);
    return z->received[k % ZERO_FLIGHTS] + place * z->blocks.shares[k].n;
}

static void scatter_begin(struct sync *s, size_t k)
{
    const struct zero *z = s->context;
    const struct owned_block *b = &z->blocks.all[k];
    struct flight *f = &z->flights[k];
    f->n = 0;
    for (int i = 1; i < s->ranks; i++)
        add_message(f, received_from(s, k, peer_at(s, i)), z->blocks.shares[k].n, peer_at(s, i));
    int n_receives = f->n;
    for (int i = 1; i < s->ranks; i++) {
        const struct span share = owned_block_share(s, b, peer_at(s, i));
        add_message(f, s->arenas.grads + share.begin, share.n, peer_at(s, i));
    }
    flight_begin(s, f, n_receives, "gradients of a block");
}

static void sum_share(struct sync *s, size_t k)
{
    const struct zero *z = s->context;
    const struct span share = z->blocks.shares[k];
    real *own = s->arenas.grads + share.begin;
    sync_pack_begin(s);
    for (int r = 0; r < s->ranks; r++)
        z->terms[r] = r == s->rank ? own : received_from(s, k, r);
    local_sum(s->exec, own, z->terms, s->ranks, 0, share.n);
    owned_block_give_back(s, &z->blocks.all[k], s->arenas.grads, mem_give_back);
    sync_pack_end(s);
}

/* The oldest block on its way. `end`: of the wait, with computing behind it or without. */
static enum status sum_next(struct sync *s, void (*end)(struct sync *s), struct error *e)
{
    struct zero *z = s->context;
    sync_comm_begin(s);
    enum status status = flight_finish(&z->flights[z->summed], e);
    end(s);
    if (status == OK)
        sum_share(s, z->summed++);
    return status;
}

/* The blocks of which all tensors, those from `first` on, are complete. */
static enum status leave_from(struct sync *s, int first, struct error *e)
{
    struct zero *z = s->context;
    for (; z->left < z->blocks.n && z->blocks.all[z->left].tensors.first >= first; z->left++) {
        if (z->left - z->summed == ZERO_FLIGHTS)
            TRY(sum_next(s, sync_comm_end_amid, e));
        sync_call_begin(s);
        scatter_begin(s, z->left);
        sync_call_end(s);
    }
    return OK;
}

static enum status sum_all(struct sync *s, struct error *e)
{
    const struct zero *z = s->context;
    while (z->summed < z->left)
        TRY(sum_next(s, sync_comm_end, e));
    return OK;
}

/* ---- Parameters ---- */

static void gather_begin(struct sync *s, size_t k)
{
    const struct zero *z = s->context;
    struct owned_block *b = &z->blocks.all[k];
    const struct span own = z->blocks.shares[k];
    struct flight *f = &z->flights[k];
    f->n = 0;
    for (int i = 1; i < s->ranks; i++) {
        const struct span share = owned_block_share(s, b, peer_at(s, i));
        add_message(f, s->arenas.params + share.begin, share.n, peer_at(s, i));
    }
    int n_receives = f->n;
    for (int i = 1; i < s->ranks; i++)
        add_message(f, s->arenas.params + own.begin, own.n, peer_at(s, i));
    flight_begin(s, f, n_receives, "parameters of a block");
    b->is_here = true;
}

/* Of the blocks that are whole, or of the others; all are on their way together. */
static enum status gather_blocks(struct sync *s, bool is_whole, struct error *e)
{
    const struct zero *z = s->context;
    enum status status = OK;
    sync_comm_begin(s);
    for (size_t k = 0; k < z->blocks.n; k++)
        if (z->blocks.all[k].is_whole == is_whole)
            gather_begin(s, k);
    for (size_t k = 0; k < z->blocks.n; k++)
        THEN(status, flight_finish(&z->flights[k], e));
    sync_comm_end(s);
    return status;
}

static void begin_if_away(struct sync *s, size_t k)
{
    const struct zero *z = s->context;
    if (z->blocks.all[k].is_whole || z->blocks.all[k].is_here)
        return;
    sync_call_begin(s);
    gather_begin(s, k);
    sync_call_end(s);
}

/* The next block that this pass will need. */
static void fetch_next(struct sync *s, struct range range, enum pass pass)
{
    const struct zero *z = s->context;
    for (size_t i = 0; i < z->blocks.n; i++) {
        size_t k = pass == PASS_FORWARD ? z->blocks.n - 1 - i : i;
        const struct owned_block *b = &z->blocks.all[k];
        bool follows =
            pass == PASS_FORWARD ? b->tensors.first >= range.last : b->tensors.last <= range.first;
        if (follows && !b->is_whole) {
            begin_if_away(s, k);
            return;
        }
    }
}

static enum status wait_for_params(struct sync *s, struct flight *f, struct error *e)
{
    if (!f->active)
        return OK;
    sync_comm_begin(s);
    enum status status = flight_finish(f, e);
    sync_comm_end_amid(s);
    return status;
}

static enum status zero_params_needed(struct sync *s, struct range range, enum pass pass,
                                      struct error *e)
{
    const struct zero *z = s->context;
    const struct owned_blocks *blocks = &z->blocks;
    if (range.first == range.last)
        return OK;
    for (size_t k = 0; k < blocks->n; k++)
        if (owned_block_overlaps(&blocks->all[k], range))
            begin_if_away(s, k);
    fetch_next(s, range, pass);
    for (size_t k = 0; k < blocks->n; k++)
        if (owned_block_overlaps(&blocks->all[k], range) && !blocks->all[k].is_whole)
            TRY(wait_for_params(s, &z->flights[k], e));
    return OK;
}

static void zero_params_done(struct sync *s, struct range range, enum pass pass)
{
    const struct zero *z = s->context;
    owned_params_done(s, &z->blocks, range, mem_give_back);
}

static enum status make_params_whole(struct sync *s, struct error *e)
{
    struct zero *z = s->context;
    if (!z->blocks.is_whole)
        TRY(gather_blocks(s, false, e));
    z->blocks.is_whole = true;
    return OK;
}

/* ---- Opening ---- */

static enum status check_block(const struct sync *s, const struct owned_block *b, struct error *e)
{
    if (b->count <= s->waiter->message_most / sizeof(real))
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "a block of %zu numbers; MPI takes messages of at most %zu bytes: lower "
                     "sync.cap_mib",
                     b->count, s->waiter->message_most);
}

static enum status open_flights(struct sync *s, struct error *e)
{
    struct zero *z = s->context;
    TRY(MEM_KEEP(&s->memory, z->flights, z->blocks.n, "messages of blocks", e));
    for (size_t k = 0; k < z->blocks.n; k++) {
        struct flight *f = &z->flights[k];
        f->waiter = s->waiter;
        TRY(check_block(s, &z->blocks.all[k], e));
        TRY(MEM_KEEP(&s->memory, f->messages, 2 * (size_t)s->ranks, "messages of all ranks", e));
    }
    return OK;
}

static enum status alloc_received(struct sync *s, struct error *e)
{
    struct zero *z = s->context;
    size_t longest = 0;
    for (size_t k = 0; k < z->blocks.n; k++)
        longest = z->blocks.shares[k].n > longest ? z->blocks.shares[k].n : longest;
    for (int i = 0; i < ZERO_FLIGHTS; i++)
        TRY(MEM_KEEP(&s->memory, z->received[i], (size_t)(s->ranks - 1) * longest,
                     "the gradients of a block", e));
    return MEM_KEEP(&s->memory, z->terms, (size_t)s->ranks, "gradients of all ranks", e);
}

/* What memory takes pages for what is written alone. */
static enum status reserve_arenas(struct sync *s, struct error *e)
{
    const struct zero *z = s->context;
    struct arenas *a = &s->arenas;
    TRY(MEM_NEW(a->grads, a->n, "gradients", e));
    TRY(owned_state_open(s, &z->blocks, e));
    if (z->blocks.gathers)
        TRY(MEM_NEW(a->params, a->n, "parameters", e));
    return arenas_alloc(a, e);
}

/* The first messages between two ranks are slow: here they carry zeroes. */
static enum status open_stage(struct sync *s, bool gathers, struct error *e)
{
    struct zero *z = s->context;
    TRY(owned_blocks_open(&z->blocks, s, gathers, e));
    TRY(open_flights(s, e));
    TRY(alloc_received(s, e));
    TRY(reserve_arenas(s, e));
    TRY(leave_from(s, 0, e));
    TRY(sum_all(s, e));
    TRY(gather_blocks(s, true, e));
    return gather_blocks(s, false, e);
}

/* ---- Hooks ---- */

static enum status zero2_create(struct sync *s, struct error *e)
{
    return open_stage(s, false, e);
}

static enum status zero3_create(struct sync *s, struct error *e)
{
    return open_stage(s, true, e);
}

static void zero_step_begin(struct sync *s)
{
    struct zero *z = s->context;
    z->left = z->summed = 0;
    if (z->blocks.is_whole)
        owned_blocks_give_back(s, &z->blocks, mem_give_back);
}

static enum status zero_grad_ready(struct sync *s, struct range range, int micro, bool last,
                                   struct error *e)
{
    return last ? leave_from(s, range.first, e) : OK;
}

static bool zero_poll(struct sync *s)
{
    const struct zero *z = s->context;
    bool some = false;
    for (size_t k = 0; k < z->blocks.n; k++)
        if (z->flights[k].active)
            some |= !flight_is_over(&z->flights[k]);
    return some;
}

static double zero_norm2_local(struct sync *s)
{
    const struct zero *z = s->context;
    return owned_norm2(s, &z->blocks);
}

static enum status zero_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                 double lr, struct error *e)
{
    const struct zero *z = s->context;
    TRY(sum_all(s, e));
    TRY(owned_blocks_step(s, &z->blocks, o, step, lr, e));
    return gather_blocks(s, true, e);
}

static enum status zero_save(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    const struct zero *z = s->context;
    *data = NULL;
    *bytes = 0;
    TRY(make_params_whole(s, e));
    return owned_state_to_root(s, &z->blocks, z->flights[0].messages, e);
}

static enum status zero_restore(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    struct zero *z = s->context;
    TRY(sync_keeps_nothing(s, bytes, e));
    z->blocks.is_whole = true;
    return OK;
}

static void zero_destroy(struct sync *s)
{
    struct zero *z = s->context;
    for (size_t k = 0; z->flights != NULL && k < z->blocks.n; k++)
        flight_give_up(&z->flights[k]);
}

const struct strategy strategy_zero2 = {
    .context_bytes = sizeof(struct zero),
    .create = zero2_create,
    .step_begin = zero_step_begin,
    .grad_ready = zero_grad_ready,
    .poll = zero_poll,
    .norm2_local = zero_norm2_local,
    .step_end = zero_step_end,
    .save = zero_save,
    .restore = zero_restore,
    .destroy = zero_destroy,
};

const struct strategy strategy_zero3 = {
    .context_bytes = sizeof(struct zero),
    .create = zero3_create,
    .step_begin = zero_step_begin,
    .params_needed = zero_params_needed,
    .params_done = zero_params_done,
    .grad_ready = zero_grad_ready,
    .poll = zero_poll,
    .norm2_local = zero_norm2_local,
    .step_end = zero_step_end,
    .eval_begin = make_params_whole,
    .save = zero_save,
    .restore = zero_restore,
    .destroy = zero_destroy,
};
