#include "comm/strategies/owned_block.h"

#include "comm/cost/strategies/zero.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

struct owned_block owned_block_before(const struct sync *s, bool gathers, size_t last)
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
                           void (*give_back)(void *memory, size_t bytes))
{
    const struct span own = owned_block_share(s, b, s->rank);
    size_t end = own.begin + own.n;
    give_back(arena + b->begin, (own.begin - b->begin) * sizeof *arena);
    give_back(arena + end, (b->begin + b->count - end) * sizeof *arena);
}

enum status owned_state_open(struct sync *s, const struct span *shares, size_t n, struct error *e)
{
    struct arenas *a = &s->arenas;
    TRY(MEM_NEW(a->state, a->n * (size_t)a->slots, "optimizer state", e));
    for (size_t k = 0; k < n; k++)
        for (size_t slot = 0; slot < (size_t)a->slots; slot++)
            local_fill(s->exec, a->state + slot * a->n + shares[k].begin, shares[k].n, 0);
    return OK;
}

/* Empty messages are not sent; both sides know which are empty. */
static void add_share(const struct sync *s, const struct owned_block *b, real *slot, int owner,
                      int peer, struct message *messages, int *n)
{
    const struct span share = owned_block_share(s, b, owner);
    if (share.n > 0)
        messages[(*n)++] = (struct message){
            .data = slot + share.begin, .bytes = share.n * sizeof *slot, .rank = peer};
}

enum status owned_block_to_root(const struct sync *s, const struct owned_block *b, real *slot,
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

double owned_norm2(const struct sync *s, const struct span *shares, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += local_norm2(s->exec, s->arenas.grads + shares[k].begin, shares[k].n);
    return sum;
}
