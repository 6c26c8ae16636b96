#include "comm/strategies/owned_block.h"

#include "comm/cost/strategies/zero.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

/* The block that ends before tensor `last`. */
static struct owned_block block_before(const struct sync *s, bool gathers, size_t last)
{
    size_t n = (size_t)s->arenas.n_tensors;
    struct zero_block cut =
        zero_block_before(&s->config, gathers, s->counts, n, last, sizeof(real));
    return (struct owned_block){
        .tensors = {(int)cut.tensors.first, (int)cut.tensors.last},
        .begin = s->arenas.tensors[cut.tensors.first].offset,
        .count = cut.tensors.count,
        .is_whole = cut.is_whole,
        .is_here = true,
    };
}

enum status owned_blocks_open(struct owned_blocks *blocks, struct sync *s, bool gathers,
                              struct error *e)
{
    size_t n = (size_t)s->arenas.n_tensors;
    blocks->gathers = gathers;
    blocks->is_whole = true;
    TRY(MEM_KEEP(&s->memory, blocks->all, n, "blocks of tensors", e));
    TRY(MEM_KEEP(&s->memory, blocks->shares, n, "shares of blocks", e));
    TRY(MEM_KEEP(&s->memory, blocks->norms2, 2 * n, "norms of tensors", e));
    for (size_t last = n; last > 0; last = (size_t)blocks->all[blocks->n++].tensors.first) {
        blocks->all[blocks->n] = block_before(s, gathers, last);
        blocks->shares[blocks->n] = owned_block_share(s, &blocks->all[blocks->n], s->rank);
    }
    return OK;
}

struct span owned_block_share(const struct sync *s, const struct owned_block *b, int rank)
{
    size_t begin, end;
    pool_share(b->count, (size_t)rank, (size_t)s->ranks, &begin, &end);
    return (struct span){.begin = b->begin + begin, .n = end - begin};
}

bool owned_block_overlaps(const struct owned_block *b, struct range tensors)
{
    return b->tensors.first < tensors.last && tensors.first < b->tensors.last;
}

void owned_block_give_back(const struct sync *s, const struct owned_block *b, real *arena,
                           give_back *memory)
{
    const struct span own = owned_block_share(s, b, s->rank);
    size_t end = own.begin + own.n;
    memory(arena + b->begin, (own.begin - b->begin) * sizeof *arena);
    memory(arena + end, (b->begin + b->count - end) * sizeof *arena);
}

void owned_params_done(struct sync *s, const struct owned_blocks *blocks, struct range tensors,
                       give_back *memory)
{
    for (size_t k = 0; k < blocks->n; k++) {
        struct owned_block *b = &blocks->all[k];
        if (b->is_whole || !owned_block_overlaps(b, tensors))
            continue;
        sync_pack_begin(s);
        owned_block_give_back(s, b, s->arenas.params, memory);
        sync_pack_end(s);
        b->is_here = false;
    }
}

void owned_blocks_give_back(const struct sync *s, struct owned_blocks *blocks, give_back *params)
{
    const struct arenas *a = &s->arenas;
    for (size_t k = 0; k < blocks->n; k++) {
        struct owned_block *b = &blocks->all[k];
        for (size_t slot = 0; slot < (size_t)a->slots; slot++)
            owned_block_give_back(s, b, a->state + slot * a->n, mem_give_back);
        if (!b->is_whole)
            owned_block_give_back(s, b, a->params, params);
        b->is_here = b->is_whole;
    }
    blocks->is_whole = false;
}

enum status owned_state_open(struct sync *s, const struct owned_blocks *blocks, struct error *e)
{
    struct arenas *a = &s->arenas;
    TRY(MEM_NEW(a->state, a->n * (size_t)a->slots, "optimizer state", e));
    for (size_t k = 0; k < blocks->n; k++)
        for (size_t slot = 0; slot < (size_t)a->slots; slot++)
            local_fill(s->exec, a->state + slot * a->n + blocks->shares[k].begin,
                       blocks->shares[k].n, 0);
    return OK;
}

/* Empty messages are not sent; both sides know which are empty. */
static void add_share(const struct sync *s, const struct owned_block *b, real *slot, int owner,
                      int peer, struct message *messages, int *n)
{
    const struct span share = owned_block_share(s, b, owner);
    if (share.n > 0)
        messages[(*n)++] = (struct message){.data = slot + share.begin,
                                            .bytes = share.n * sizeof *slot,
                                            .rank = peer,
                                            .request = MPI_REQUEST_NULL};
}

static enum status block_to_root(const struct sync *s, const struct owned_block *b, real *slot,
                                 struct message *room, struct error *e)
{
    static const char operation[] = "optimizer state of a block";
    int n = 0;
    if (s->rank > 0) {
        add_share(s, b, slot, s->rank, 0, room, &n);
        return wait_send(s->waiter, room, n, s->comm, operation, e);
    }
    for (int r = 1; r < s->ranks; r++)
        add_share(s, b, slot, r, r, room, &n);
    return wait_receive(s->waiter, room, n, s->comm, operation, e);
}

enum status owned_state_to_root(const struct sync *s, const struct owned_blocks *blocks,
                                struct message *room, struct error *e)
{
    const struct arenas *a = &s->arenas;
    for (size_t slot = 0; slot < (size_t)a->slots; slot++)
        for (size_t k = 0; k < blocks->n; k++)
            TRY(block_to_root(s, &blocks->all[k], a->state + slot * a->n, room, e));
    return OK;
}

double owned_norm2(const struct sync *s, const struct owned_blocks *blocks)
{
    double sum = 0;
    for (size_t k = 0; k < blocks->n; k++)
        sum += local_norm2(s->exec, s->arenas.grads + blocks->shares[k].begin, blocks->shares[k].n);
    return sum;
}

enum status owned_blocks_step(struct sync *s, const struct owned_blocks *blocks,
                              const struct optimizer *o, uint64_t step, double lr, struct error *e)
{
    TRY(sync_finish_sums(s, o, blocks->shares, blocks->n, e));
    return sync_optimize_shares(s, o, blocks->shares, blocks->n, step, lr, blocks->norms2, e);
}
