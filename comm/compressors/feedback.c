#include "comm/compressors/feedback.h"

#include "comm/local_ops.h"

enum status feedback_create(struct sync *s, size_t packet_bytes, struct error *e)
{
    struct feedback *f = s->compression;
    TRY(exchanger_open(&f->exchanger, s, e));
    TRY(MEM_KEEP(&s->memory, f->residual, s->arenas.n, "residuals of a compressor", e));
    return MEM_KEEP(&s->memory, f->packets, (size_t)s->ranks * packet_bytes, "packets of all ranks",
                    e);
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
    sync_pack_begin(s);
    local_add(s->exec, f->residual + span.begin, grads, span.n);
    packing->encode(s, tensors, f->packets + (size_t)s->rank * bytes);
    sync_pack_end(s);
    TRY(exchange_gather(s, &f->exchanger, &packets, packing->operation, e));
    sync_pack_begin(s);
    local_fill(s->exec, grads, span.n, 0);
    for (size_t r = 0; r < (size_t)s->ranks; r++)
        packing->decode(s, tensors, f->packets + r * bytes);
    sync_pack_end(s);
    return OK;
}
