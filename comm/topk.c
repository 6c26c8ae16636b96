/* Top-k sparsification (Aji and Heafield, 2017) with error feedback: each rank sends the share
 * sync.topk of its numbers, those of largest magnitude, and where they stand; every rank adds what
 * all sent, in the order of ranks. The rest is kept for the next step. Under allreduce the numbers
 * of the whole gradient compete with each other, under allreduce_layer those of each tensor.
 *
 * Nothing is rounded on the way: what is sent and what is kept make up what there was to the bit.
 */
#include <stdlib.h>

#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"

struct topk {
    struct exchanger exchanger;
    real *residual;         /* [n] */
    unsigned char *packets; /* [ranks][of k values, then their k places] */
};

static size_t packet_bytes(const struct sync *s, size_t n)
{
    return topk_packet_bytes(topk_count(n, s->form.topk_share), sizeof(real));
}

static enum status topk_create(struct sync *s, struct error *e)
{
    size_t n = s->arenas.n, ranks = (size_t)s->ranks;
    struct topk *c = s->compression = calloc(1, sizeof *c);
    if (c == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a compressor");
    if (n > UINT32_MAX)
        return error_set(e, ERR_ARGUMENT, "topk: %zu numbers; places have 32 bits", n);
    if (exchanger_open(&c->exchanger, s->ranks, e) != OK)
        return e->status;
    c->residual = mem_alloc(n * sizeof *c->residual);
    c->packets = mem_alloc(ranks * packet_bytes(s, n));
    if (c->residual == NULL || c->packets == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the largest of %zu numbers of %d ranks", n,
                         s->ranks);
    return OK;
}

static void topk_destroy(struct sync *s)
{
    struct topk *c = s->compression;
    if (c == NULL)
        return;
    exchanger_close(&c->exchanger);
    mem_free(c->residual);
    mem_free(c->packets);
    free(c);
}

static void *topk_memory(struct sync *s, size_t *bytes)
{
    struct topk *c = s->compression;
    *bytes = s->arenas.n * sizeof *c->residual;
    return c->residual;
}

static void topk_begin(struct sync *s)
{
    struct topk *c = s->compression;
    local_fill(s->exec, c->residual, s->arenas.n, 0);
}

static enum status topk_sum(struct sync *s, struct range tensors, struct error *e)
{
    struct topk *c = s->compression;
    const struct span span = span_of(&s->arenas, tensors);
    size_t k = topk_count(span.n, s->form.topk_share), bytes = packet_bytes(s, span.n);
    const struct shares packets = {.data = c->packets, .n = (size_t)s->ranks, .width = bytes};
    real *grads = s->arenas.grads + span.begin, *residual = c->residual + span.begin;
    unsigned char *mine = c->packets + (size_t)s->rank * bytes;
    pack_begin(s);
    local_add(s->exec, residual, grads, span.n);
    local_take_largest(s->exec, residual, span.n, k, (real *)mine,
                       (uint32_t *)(mine + k * sizeof(real)));
    pack_end(s);
    enum status status =
        exchange_gather(s, &c->exchanger, &packets, "exchange of the largest gradients", e);
    if (status != OK)
        return status;
    pack_begin(s);
    local_fill(s->exec, grads, span.n, 0);
    for (size_t r = 0; r < (size_t)s->ranks; r++) {
        const unsigned char *packet = c->packets + r * bytes;
        local_add_at(s->exec, grads, (const real *)packet,
                     (const uint32_t *)(packet + k * sizeof(real)), k);
    }
    pack_end(s);
    return OK;
}

const struct compressor compressor_topk = {
    .create = topk_create,
    .sum = topk_sum,
    .memory = topk_memory,
    .begin = topk_begin,
    .destroy = topk_destroy,
};
