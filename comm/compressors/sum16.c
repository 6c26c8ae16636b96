/* Every rank rounds its gradients to 16 bits and hands each rank its share; that rank adds the
 * shares in `real`, in the order of ranks, rounds the sum to 16 bits and hands it back. So numbers
 * are rounded twice whatever the number of ranks (a ring, or MPI_Allreduce with an operation on 16
 * bits, rounds at every hop), and the sum is the same on every rank:
 *
 *   |error| <= (2 u + u^2 + (p-1) eps (1 + u)) sum |x|,  u = 2^-11 of fp16, 2^-8 of bf16,
 *
 * plus p + 1 times half the least fp16, 2^-25 over the scale. */
#include "comm/compressors/sum16.h"

#include "comm/local_ops.h"
#include "kernels/base/mem.h"

enum status sum16_create(struct sync *s, enum format16 format, double scale, struct error *e)
{
    enum isa isa;
    const struct shares all = {.n = s->arenas.n};
    size_t longest = shares_count(&all, 0, s->ranks), ranks = (size_t)s->ranks;
    struct sum16 *c = s->compression;
    TRY(isa_choose(&isa, false, e));
    TRY(exchanger_open(&c->exchanger, s->ranks, e));
    c->functions = cast16_get(isa);
    c->cast = format == FORMAT_FP16 ? &c->functions->fp16 : &c->functions->bf16;
    c->scale = (float)scale;
    c->counts_infinite = format == FORMAT_FP16;
    TRY(MEM_NEW_ALIGNED(c->wire, s->arenas.n, "gradients in 16 bits", e));
    TRY(MEM_NEW_ALIGNED(c->received, ranks * longest, "received gradients in 16 bits", e));
    return MEM_NEW_ALIGNED(c->sum, longest, "a share of the sum", e);
}

void sum16_destroy(struct sync *s)
{
    struct sum16 *c = s->compression;
    exchanger_close(&c->exchanger);
    mem_free(c->wire);
    mem_free(c->received);
    mem_free(c->sum);
}

static void encode(struct sync *s, uint16_t *y, const real *x, size_t n)
{
    const struct sum16 *c = s->compression;
    local_encode16(s->exec, c->cast, y, x, n, c->scale);
    if (c->counts_infinite)
        s->infinite += c->functions->count_infinite(y, n);
}

/* The share of this rank, begun with that of rank 0. */
static void sum_share(struct sync *s, const struct shares *v)
{
    struct sum16 *c = s->compression;
    size_t n = shares_count(v, s->rank, s->ranks), longest = shares_count(v, 0, s->ranks);
    uint16_t *mine = c->wire + shares_begin(v, s->rank, s->ranks);
    sync_pack_begin(s);
    for (int r = 0; r < s->ranks; r++) {
        const uint16_t *share = r == s->rank ? mine : c->received + (size_t)r * longest;
        if (r == 0)
            local_decode16(s->exec, c->cast, c->sum, share, n, 1 / c->scale);
        else
            local_add16(s->exec, c->cast, c->sum, share, n, 1 / c->scale);
    }
    encode(s, mine, c->sum, n);
    sync_pack_end(s);
}

enum status sum16(struct sync *s, struct range tensors, struct error *e)
{
    struct sum16 *c = s->compression;
    const struct span span = span_of(&s->arenas, tensors);
    const struct shares shares = {.data = c->wire, .n = span.n, .width = sizeof *c->wire};
    real *grads = s->arenas.grads + span.begin;
    sync_pack_begin(s);
    encode(s, c->wire, grads, span.n);
    sync_pack_end(s);
    TRY(exchange_scatter(s, &c->exchanger, &shares, c->received, "exchange of gradients in 16 bits",
                         e));
    sum_share(s, &shares);
    TRY(exchange_gather(s, &c->exchanger, &shares, "exchange of summed gradients in 16 bits", e));
    sync_pack_begin(s);
    local_decode16(s->exec, c->cast, grads, c->wire, span.n,
                   1 / (c->scale * (float)s->loss_scale.value));
    sync_pack_end(s);
    return OK;
}
