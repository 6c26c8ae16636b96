#include "comm/compressors/feedback.h"

#include <stdlib.h>

#include "comm/local_ops.h"
#include "kernels/base/mem.h"

enum status feedback_create(struct sync *s, size_t size, size_t packet_bytes, struct error *e)
{
    size_t n = s->arenas.n, ranks = (size_t)s->ranks;
    struct feedback *f = s->compression = calloc(1, size);
    if (f == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a compressor");
    TRY(exchanger_open(&f->exchanger, s->ranks, e));
    f->residual = mem_alloc(n * sizeof *f->residual);
    f->packets = mem_alloc(ranks * packet_bytes);
    if (f->residual == NULL || f->packets == NULL)
        return error_set(e, ERR_MEMORY, "no memory for what %d ranks send of %zu numbers", s->ranks,
                         n);
    return OK;
}

void feedback_destroy(struct sync *s)
{
    struct feedback *f = s->compression;
    if (f == NULL)
        return;
    exchanger_close(&f->exchanger);
    mem_free(f->residual);
    mem_free(f->packets);
    free(f);
}

void *feedback_memory(struct sync *s, size_t *bytes)
{
    struct feedback *f = s->compression;
    *bytes = s->arenas.n * sizeof *f->residual;
    return f->residual;
}

void feedback_begin(struct sync *s)
{
    struct feedback *f = s->compression;
    local_fill(s->exec, f->residual, s->arenas.n, 0);
}

enum status feedback_sum(struct sync *s, struct range tensors, size_t bytes,
                         const struct packing *packing, struct error *e)
{
    struct feedback *f = s->compression;
    const struct span span = span_of(&s->arenas, tensors);
    const struct shares packets = {.data = f->packets, .n = (size_t)s->ranks, .width = bytes};
    real *grads = s->arenas.grads + span.begin;
    pack_begin(s);
    local_add(s->exec, f->residual + span.begin, grads, span.n);
    packing->encode(s, tensors, f->packets + (size_t)s->rank * bytes);
    pack_end(s);
    TRY(exchange_gather(s, &f->exchanger, &packets, packing->operation, e));
    pack_begin(s);
    local_fill(s->exec, grads, span.n, 0);
    for (size_t r = 0; r < (size_t)s->ranks; r++)
        packing->decode(s, tensors, f->packets + r * bytes);
    pack_end(s);
    return OK;
}
