/* zero2, zero3: stages 2 and 3 of ZeRO (Rajbhandari et al., "ZeRO: memory optimizations toward
 * training trillion parameter models", 2020) by messages, on any nodes. Every rank owns an equal
 * share of each block of tensors (comm/cost/strategies/zero.h).
 *
 * Gradients: when backward has finished a block, a rank sends each share to the rank that owns it.
 * The owner adds the shares in the order of ranks, and releases the gradients of all other shares.
 * At most two blocks are in transit. With several micro-batches, each rank adds up whole gradients
 * and sends blocks only in the last one, as FSDP does under no_sync.
 *
 * Parameters: a rank runs the optimizer on its shares, then sends them to all ranks. At stage 3, it
 * sends only shares of tensors of at most sync.zero_persist numbers. Larger tensors are gathered
 * before each pass of the op that reads them, while the previous op computes, and released after
 * the pass.
 *
 * Arenas are reserved whole, so that indices are equal on all ranks. Released pages take no memory,
 * but must be allocated again within the step, which costs time. Every rank holds all weights
 * during initialisation, evaluation and saving, and until the next step begins. */
#include "comm/cost/strategies/zero.h"
#include "comm/local_ops.h"
#include "comm/strategies/owned_block.h"
#include "kernels/base/mem.h"

struct zero {
    struct owned_blocks blocks;
    struct exchanger *flights; /* [blocks.n] messages of each block to and from all other ranks */
    /* [ranks - 1][share] received gradients; successive blocks use these buffers in turn */
    real *received[ZERO_FLIGHTS];
    const real **terms; /* [ranks] pointers to the gradients that local_sum adds, one per rank */
};

static struct shares shares_of(const struct owned_block *b, real *arena)
{
    return (struct shares){.data = arena + b->begin, .n = b->count, .width = sizeof *arena};
}

/* ---- Gradients ---- */

static enum status scatter(struct sync *s, size_t k, struct error *e)
{
    const struct zero *z = s->context;
    const struct shares v = shares_of(&z->blocks.all[k], s->arenas.grads);
    exchange_plan_scatter(s, &z->flights[k], &v, z->received[k % ZERO_FLIGHTS], s->comm,
                          "gradients of a block");
    return exchanger_begin(s, &z->flights[k], e);
}

static void sum_share(struct sync *s, size_t k)
{
    const struct zero *z = s->context;
    const struct shares v = shares_of(&z->blocks.all[k], s->arenas.grads);
    const struct span share = z->blocks.shares[k];
    real *own = s->arenas.grads + share.begin, *received = z->received[k % ZERO_FLIGHTS];
    sync_pack_begin(s);
    for (int r = 0; r < s->ranks; r++)
        z->terms[r] = r == s->rank ? own : exchange_received(s, &v, received, r);
    local_sum(s->exec, own, z->terms, s->ranks, 0, share.n);
    owned_block_give_back(s, &z->blocks.all[k], s->arenas.grads, mem_give_back);
    sync_pack_end(s);
}

static enum status sum_next(struct sync *s, end_wait *end, struct error *e)
{
    struct zero *z = s->context;
    sync_comm_begin(s);
    enum status status = exchanger_wait(s, &z->flights[z->blocks.summed], e);
    end(s);
    if (status == OK)
        sum_share(s, z->blocks.summed++);
    return status;
}

/* ---- Parameters ---- */

static enum status gather_begin(struct sync *s, size_t k, struct error *e)
{
    const struct zero *z = s->context;
    const struct shares v = shares_of(&z->blocks.all[k], s->arenas.params);
    exchange_plan_gather(s, &z->flights[k], &v, s->comm, "parameters of a block");
    z->blocks.all[k].is_here = true;
    return exchanger_begin(s, &z->flights[k], e);
}

/* Gathers the parameters of all blocks whose owned_block.is_whole equals `is_whole`. All gathers
 * run at the same time. */
static enum status gather_blocks(struct sync *s, bool is_whole, struct error *e)
{
    const struct zero *z = s->context;
    enum status status = OK;
    for (size_t k = 0; k < z->blocks.n; k++)
        if (z->blocks.all[k].is_whole == is_whole)
            TRY(gather_begin(s, k, e));
    sync_comm_begin(s);
    for (size_t k = 0; k < z->blocks.n; k++)
        THEN(status, exchanger_wait(s, &z->flights[k], e));
    sync_comm_end(s);
    return status;
}

static enum status begin_if_away(struct sync *s, size_t k, struct error *e)
{
    const struct zero *z = s->context;
    const struct owned_block *b = &z->blocks.all[k];
    return b->is_whole || b->is_here ? OK : gather_begin(s, k, e);
}

static enum status fetch_next(struct sync *s, struct range range, enum pass pass, struct error *e)
{
    const struct zero *z = s->context;
    for (size_t i = 0; i < z->blocks.n; i++) {
        size_t k = pass == PASS_FORWARD ? z->blocks.n - 1 - i : i;
        const struct owned_block *b = &z->blocks.all[k];
        bool follows =
            pass == PASS_FORWARD ? b->tensors.first >= range.last : b->tensors.last <= range.first;
        if (follows && !b->is_whole)
            return begin_if_away(s, k, e);
    }
    return OK;
}

static enum status wait_for_params(struct sync *s, struct exchanger *x, struct error *e)
{
    if (!x->active)
        return OK;
    sync_comm_begin(s);
    enum status status = exchanger_wait(s, x, e);
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
            TRY(begin_if_away(s, k, e));
    TRY(fetch_next(s, range, pass, e));
    for (size_t k = 0; k < blocks->n; k++)
        if (owned_block_overlaps(&blocks->all[k], range) && !blocks->all[k].is_whole)
            TRY(wait_for_params(s, &z->flights[k], e));
    return OK;
}

static const struct owned_way way = {
    .params = mem_give_back, .leave = scatter, .sum_next = sum_next, .gather = gather_blocks};

/* ---- Opening ---- */

static enum status check_block(const struct sync *s, const struct owned_block *b, struct error *e)
{
    if (b->count <= s->waiter->message_most / sizeof(real))
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "a block of %zu bytes exceeds the limit of an MPI message, %zu bytes. "
                     "Lower sync.cap_mib",
                     b->count * sizeof(real), s->waiter->message_most);
}

static enum status open_flights(struct sync *s, struct error *e)
{
    struct zero *z = s->context;
    TRY(MEM_KEEP(&s->memory, z->flights, z->blocks.n, "messages of blocks", e));
    for (size_t k = 0; k < z->blocks.n; k++) {
        TRY(check_block(s, &z->blocks.all[k], e));
        TRY(exchanger_open(&z->flights[k], s, e));
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

/* Reserves the arenas. Pages of gradients, optimizer state and, at stage 3, parameters take memory
 * only when written. */
static enum status reserve_arenas(struct sync *s, struct error *e)
{
    const struct zero *z = s->context;
    struct arenas *a = &s->arenas;
    TRY(MEM_NEW(a->grads, a->n, "gradients", e));
    TRY(owned_state_open(s, e));
    if (z->blocks.stage == 3)
        TRY(MEM_NEW(a->params, a->n, "parameters", e));
    return arenas_alloc(a, e);
}

/* Opens blocks, buffers and arenas. Exchanges zeros once, because the first messages between two
 * ranks are slow. */
static enum status zero_create(struct sync *s, struct error *e)
{
    const struct zero *z = s->context;
    TRY(owned_blocks_open(s, &way, e));
    TRY(open_flights(s, e));
    TRY(alloc_received(s, e));
    TRY(reserve_arenas(s, e));
    TRY(owned_grad_ready(s, (struct range){0, 0}, 0, true, e));
    while (z->blocks.summed < z->blocks.left)
        TRY(sum_next(s, sync_comm_end, e));
    TRY(gather_blocks(s, true, e));
    return gather_blocks(s, false, e);
}

/* ---- Hooks ---- */

static bool zero_poll(struct sync *s)
{
    const struct zero *z = s->context;
    bool some = false;
    for (size_t k = 0; k < z->blocks.n; k++)
        if (z->flights[k].active)
            some |= !exchanger_test(s, &z->flights[k]);
    return some;
}

/* After an error, completes or cancels messages that are still in transit, before their memory is
 * freed. */
static void zero_destroy(struct sync *s)
{
    const struct zero *z = s->context;
    for (size_t k = 0; z->flights != NULL && k < z->blocks.n; k++) {
        const struct exchange *x = &z->flights[k].messages;
        for (int i = 0; i < x->n_sends; i++)
            message_let_leave(s->waiter, &x->sends[i], x->operation);
        for (int i = 0; i < x->n_receives; i++)
            message_cancel(s->waiter, &x->receives[i]);
    }
}

#define HOOKS                                                                                      \
    {                                                                                              \
        .context_bytes = sizeof(struct zero), .create = zero_create,                               \
        .step_begin = owned_step_begin, .params_needed = zero_params_needed,                       \
        .params_done = owned_params_done, .grad_ready = owned_grad_ready, .poll = zero_poll,       \
        .norm2_local = owned_norm2_local, .step_end = owned_step_end,                              \
        .eval_begin = owned_eval_begin, .save = owned_save, .restore = owned_restore,              \
        .destroy = zero_destroy,                                                                   \
    }

const struct strategy strategy_zero2 = HOOKS;
const struct strategy strategy_zero3 = HOOKS;
