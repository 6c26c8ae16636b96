#include "bench/workloads/train_cnn/parts/weights16.h"

#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

enum status weights16_open(struct weights16 *w, enum precision precision, enum isa isa,
                           const struct arenas *arenas, struct pool *pool, size_t longest,
                           struct error *e)
{
    *w = (struct weights16){.cast = local_cast16(precision, isa), .arenas = arenas, .pool = pool};
    if (w->cast == NULL)
        return OK;
    TRY(MEM_NEW_ALIGNED(w->stored, arenas->n, "weights of 16 bits", e));
    return MEM_NEW_ALIGNED(w->op, longest, "the weights of an op", e);
}

void weights16_close(struct weights16 *w)
{
    mem_free(w->stored);
    mem_free(w->op);
}

/* Arguments of convert_part, which converts one thread's part of an op's weights. */
struct part {
    const struct weights16 *w;
    struct span span;
    bool rounds;
};

static void convert_part(void *arg, int thread, int threads)
{
    const struct part *p = arg;
    const struct weights16 *w = p->w;
    size_t begin, end;
    pool_share(p->span.n, (size_t)thread, (size_t)threads, &begin, &end);
    size_t at = p->span.begin + begin, n = end - begin;
    if (p->rounds)
        w->cast->encode(w->stored + at, w->arenas->params + at, n, 1);
    w->cast->decode(w->op + begin, w->stored + at, n, 1);
}

/* Returns the parameter arena if weights are not converted, or if `tensors` is empty. Otherwise
 * returns w->op minus the offset of the first tensor, so that offsets in the arena are valid for
 * the result. */
const real *weights16_of(const struct weights16 *w, struct range tensors, bool rounds)
{
    if (w->cast == NULL || tensors.first == tensors.last)
        return w->arenas->params;
    struct part part = {w, span_of(w->arenas, tensors), rounds};
    pool_run(w->pool, convert_part, &part);
    return (const real *)((uintptr_t)w->op - part.span.begin * sizeof(real));
}
