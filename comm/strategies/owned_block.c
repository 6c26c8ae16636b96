#include "comm/strategies/owned_block.h"

#include "comm/cost/strategies/ring.h"
#include "comm/cost/strategies/zero.h"
#include "comm/local_ops.h"
#include "kernels/base/pool.h"

/* Returns the block of tensors that ends before tensor `last`. */
static struct owned_block block_before(const struct sync *s, size_t last)
{
    const struct owned_blocks *blocks = s->context;
    size_t n = (size_t)s->arenas.n_tensors;
    struct zero_block cut =
        blocks->stage == 1
            ? (struct zero_block){{.last = n, .count = s->arenas.n}, .is_whole = true}
            : zero_block_before(&s->config, blocks->stage == 3, s->counts, n, last, sizeof(real));
    return (struct owned_block){
        .tensors = {(int)cut.tensors.first, (int)cut.tensors.last},
        .begin = s->arenas.tensors[cut.tensors.first].offset,
        .count = cut.tensors.count,
        .is_whole = cut.is_whole,
        .is_here = true,
    };
}

enum status owned_blocks_open(struct sync *s, const struct owned_way *way, struct error *e)
{
    struct owned_blocks *blocks = s->context;
    size_t n = (size_t)s->arenas.n_tensors;
    blocks->way = way;
    blocks->stage = strategy_stage(s->kind);
    blocks->is_whole = true;
    TRY(MEM_KEEP(&s->memory, blocks->all, n, "blocks of tensors", e));
    TRY(MEM_KEEP(&s->memory, blocks->shares, n, "shares of blocks", e));
    TRY(MEM_KEEP(&s->memory, blocks->norms2, 2 * n, "norms of tensors", e));
    TRY(MEM_KEEP(&s->memory, blocks->messages, (size_t)s->ranks, "messages of all ranks", e));
    for (size_t last = n; last > 0; last = (size_t)blocks->all[blocks->n++].tensors.first) {
        blocks->all[blocks->n] = block_before(s, last);
        blocks->shares[blocks->n] = owned_block_share(s, &blocks->all[blocks->n], s->rank);
    }
    return OK;
}

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank)
{
    const struct owned_blocks *blocks = s->context;
    int part = blocks->stage == 1 ? ring_block(rank, s->ranks) : rank;
    size_t begin, end;
    pool_share(b->count, (size_t)part, (size_t)s->ranks, &begin, &end);
    return (struct span){.begin = b->begin + begin, .n = end - begin};
}

bool owned_block_overlaps(const struct owned_block *b, struct range tensors)
{
    return b->tensors.first < tensors.last && tensors.first < b->tensors.last;
}

/* ---- Memory ---- */

void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           give_back *memory)
{
    const struct span own = owned_block_share(s, b, s->rank);
    size_t end = own.begin + own.n;
    memory(arena + b->begin, (own.begin - b->begin) * sizeof *arena);
    memory(arena + end, (b->begin + b->count - end) * sizeof *arena);
}

void owned_params_done(struct sync *s, struct range tensors, enum pass pass)
{
    const struct owned_blocks *blocks = s->context;
    for (size_t k = 0; k < blocks->n; k++) {
        struct owned_block *b = &blocks->all[k];
        if (b->is_whole || !owned_block_overlaps(b, tensors))
            continue;
        sync_pack_begin(s);
        owned_block_give_back(s, b, s->arenas.params, blocks->way->params);
        sync_pack_end(s);
        b->is_here = false;
    }
}

static void give_back_others(struct sync *s)
{
    struct owned_blocks *blocks = s->context;
    const struct arenas *a = &s->arenas;
    for (size_t k = 0; k < blocks->n; k++) {
        struct owned_block *b = &blocks->all[k];
        for (size_t slot = 0; slot < (size_t)a->slots; slot++)
            owned_block_give_back(s, b, a->state + slot * a->n, mem_give_back);
        if (!b->is_whole)
            owned_block_give_back(s, b, a->params, blocks->way->params);
        b->is_here = b->is_whole;
    }
    blocks->is_whole = false;
}

enum status owned_state_open(struct sync *s, struct error *e)
{
    const struct owned_blocks *blocks = s->context;
    struct arenas *a = &s->arenas;
    TRY(MEM_NEW(a->state, a->n * (size_t)a->slots, "optimizer state", e));
    for (size_t k = 0; k < blocks->n; k++)
        for (size_t slot = 0; slot < (size_t)a->slots; slot++)
            local_fill(s->exec, a->state + slot * a->n + blocks->shares[k].begin,
                       blocks->shares[k].n, 0);
    return OK;
}

/* ---- Steps ---- */

void owned_step_begin(struct sync *s)
{
    struct owned_blocks *blocks = s->context;
    blocks->left = blocks->summed = 0;
    if (blocks->is_whole)
        give_back_others(s);
}

/* In the last micro-batch, starts to sum each block whose gradients are complete. If ZERO_FLIGHTS
 * sums are in progress, first completes the oldest. */
enum status owned_grad_ready(struct sync *s, struct range range, int micro, bool last,
                             struct error *e)
{
    struct owned_blocks *b = s->context;
    for (; last && b->left < b->n && b->all[b->left].tensors.first >= range.first; b->left++) {
        if (b->left - b->summed == ZERO_FLIGHTS)
            TRY(b->way->sum_next(s, sync_comm_end_amid, e));
        TRY(b->way->leave(s, b->left, e));
    }
    return OK;
}

double owned_norm2_local(struct sync *s)
{
    const struct owned_blocks *blocks = s->context;
    double sum = 0;
    for (size_t k = 0; k < blocks->n; k++)
        sum += local_norm2(s->exec, s->arenas.grads + blocks->shares[k].begin, blocks->shares[k].n);
    return sum;
}

enum status owned_blocks_step(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                              struct error *e)
{
    const struct owned_blocks *blocks = s->context;
    TRY(sync_finish_sums(s, o, blocks->shares, blocks->n, e));
    return sync_optimize_shares(s, o, blocks->shares, blocks->n, step, lr, blocks->norms2, e);
}

enum status owned_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                           struct error *e)
{
    const struct owned_blocks *blocks = s->context;
    while (blocks->summed < blocks->left)
        TRY(blocks->way->sum_next(s, sync_comm_end, e));
    TRY(owned_blocks_step(s, o, step, lr, e));
    return blocks->way->gather(s, true, e);
}

/* ---- Checkpoints ---- */

static enum status make_params_whole(struct sync *s, struct error *e)
{
    struct owned_blocks *blocks = s->context;
    if (!blocks->is_whole && blocks->stage == 3)
        TRY(blocks->way->gather(s, false, e));
    blocks->is_whole = true;
    return OK;
}

enum status owned_eval_begin(struct sync *s, struct error *e)
{
    const struct owned_blocks *blocks = s->context;
    return blocks->stage == 3 ? make_params_whole(s, e) : OK;
}

/* Appends a message to blocks->messages, which has *n messages so far, and increments *n. The
 * message is sent to or received from rank `peer`. It contains rank `owner`'s share of block `b` in
 * the array `slot` of optimizer state. Appends nothing if this share is empty. */
static void add_share(const struct sync *s, const struct owned_block *b, real *slot, int owner,
                      int peer, int *n)
{
    const struct owned_blocks *blocks = s->context;
    const struct span share = owned_block_share(s, b, owner);
    if (share.n > 0)
        blocks->messages[(*n)++] = (struct message){
            .data = slot + share.begin, .bytes = share.n * sizeof *slot, .rank = peer};
}

static enum status block_to_root(const struct sync *s, const struct owned_block *b, real *slot,
                                 struct error *e)
{
    static const char operation[] = "optimizer state of a block";
    const struct owned_blocks *blocks = s->context;
    int n = 0;
    if (s->rank > 0) {
        add_share(s, b, slot, s->rank, 0, &n);
        return wait_send(s->waiter, blocks->messages, n, s->comm, operation, e);
    }
    for (int r = 1; r < s->ranks; r++)
        add_share(s, b, slot, r, r, &n);
    return wait_receive(s->waiter, blocks->messages, n, s->comm, operation, e);
}

enum status owned_save(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    const struct owned_blocks *blocks = s->context;
    const struct arenas *a = &s->arenas;
    TRY(make_params_whole(s, e));
    for (size_t slot = 0; slot < (size_t)a->slots; slot++)
        for (size_t k = 0; k < blocks->n; k++)
            TRY(block_to_root(s, &blocks->all[k], a->state + slot * a->n, e));
    return OK;
}

enum status owned_restore(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    struct owned_blocks *blocks = s->context;
    TRY(sync_keeps_nothing(s, bytes, e));
    blocks->is_whole = true;
    return OK;
}
