/* What follows the sum of the gradients: clipping by global norm, and the optimizer. */
#include <assert.h>
#include <math.h>

#include "comm/local_ops.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"
#include "kernels/base/pool.h"

static void end_update(struct sync *s, const char *name, int64_t begin_ns)
{
    int64_t now_ns = clock_ns();
    s->times.optimizer_ns += now_ns - begin_ns;
    timeline_add(s->waiter->timeline, PHASE_optimizer, name, begin_ns, now_ns);
}

void sync_optimize(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                   uint64_t step, double lr)
{
    sync_optimize_from(s, o, s->arenas.grads, begin, end, step, lr);
}

void sync_before_update(struct sync *s)
{
    if (s->before_update != NULL)
        s->before_update(s->before_update_arg);
}

void sync_optimize_from(struct sync *s, const struct optimizer *o, const real *grads, size_t begin,
                        size_t end, uint64_t step, double lr)
{
    assert(s->clipped || o->clip_norm == 0);
    sync_before_update(s);
    int64_t begin_ns = clock_ns();
    if (s->update != NULL)
        s->update(s->update_arg, begin, end);
    else
        optimizer_step(o, s->exec->pool, s->arenas.params, grads, begin, end, step, lr);
    end_update(s, "optimizer", begin_ns);
}

/* A norm that is not a number scales nothing: divergence is to show. */
static void clip_range(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                       double norm2)
{
    double norm = sqrt(norm2);
    if (norm > o->clip_norm)
        local_scale(s->exec, s->arenas.grads + begin, end - begin, (real)(o->clip_norm / norm));
    s->clipped = true;
}

/* Where every rank holds the whole gradient, each answers for an equal part. */
double sync_norm2_local(struct sync *s)
{
    size_t begin, end;
    if (s->strategy->norm2_local != NULL)
        return s->strategy->norm2_local(s);
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    return local_norm2(s->exec, s->arenas.grads + begin, end - begin);
}

enum status sync_clip(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                      struct error *e)
{
    if (o->clip_norm == 0)
        return OK;
    int64_t begin_ns = clock_ns();
    double norm2 = s->update == NULL ? sync_norm2_local(s) : 0;
    end_update(s, "clipping", begin_ns);
    sync_comm_begin(s);
    enum status status = wait_allreduce(s->waiter, &norm2, 1, MPI_DOUBLE, MPI_SUM, s->comm,
                                        "sum of the gradient's squares", e);
    sync_comm_end(s);
    TRY(status);
    begin_ns = clock_ns();
    clip_range(s, o, begin, end, norm2);
    end_update(s, "clipping", begin_ns);
    return OK;
}

enum status sync_update(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                        struct error *e)
{
    TRY(sync_clip(s, o, 0, s->arenas.n, e));
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
    return OK;
}

void sync_clip_alone(struct sync *s, const struct optimizer *o)
{
    if (o->clip_norm == 0)
        return;
    int64_t begin_ns = clock_ns();
    double norm2 = s->update == NULL ? local_norm2(s->exec, s->arenas.grads, s->arenas.n) : 0;
    clip_range(s, o, 0, s->arenas.n, norm2);
    end_update(s, "clipping", begin_ns);
}

void sync_update_alone(struct sync *s, const struct optimizer *o, uint64_t step, double lr)
{
    sync_clip_alone(s, o);
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
}
