/* Turns the summed gradients into an update: scaling, clipping and the optimizer. Servers of
 * param_server do this in strategies/server.c. */
#include <assert.h>
#include <math.h>

#include "comm/compress.h"
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
    assert(s->sum_finished || !sync_finishes_sum(s, o));
    if (s->overflow)
        return;
    sync_before_update(s);
    int64_t begin_ns = clock_ns();
    if (s->update != NULL)
        s->update(s->update_arg, begin, end);
    else
        optimizer_step(o, s->exec->pool, s->arenas.params, grads, begin, end, step, lr);
    end_update(s, "optimizer", begin_ns);
}

/* Computes squared norms of whole tensors, for optimizers such as LARS. Each rank adds the squares
 * in its spans, which may be parts of tensors. */
static enum status sum_norms(struct sync *s, const struct optimizer *o, const struct span *spans,
                             size_t n, uint64_t step, double *norms2, struct error *e)
{
    int tensors = s->arenas.n_tensors;
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < 2 * tensors; i++)
        norms2[i] = 0;
    for (size_t k = 0; k < n && s->update == NULL; k++)
        optimizer_norms(o, s->arenas.params, s->arenas.grads, spans[k].begin,
                        spans[k].begin + spans[k].n, step, norms2);
    end_update(s, "norms of tensors", begin_ns);
    const struct extra_sum sum = {norms2,  2 * (size_t)tensors,         MPI_DOUBLE, MPI_SUM,
                                  s->comm, "sums of squares of tensors"};
    return sync_extra_sum(s, &sum, sync_comm_end, e);
}

enum status sync_optimize_shares(struct sync *s, const struct optimizer *o,
                                 const struct span *spans, size_t n, uint64_t step, double lr,
                                 double *norms2, struct error *e)
{
    bool takes_tensors = optimizer_takes_tensors(o->kind);
    if (s->overflow)
        return OK;
    if (takes_tensors)
        sync_before_update(s);
    if (takes_tensors)
        TRY(sum_norms(s, o, spans, n, step, norms2, e));
    for (size_t k = 0; k < n; k++) {
        size_t begin = spans[k].begin, end = begin + spans[k].n;
        int64_t begin_ns = clock_ns();
        if (takes_tensors && s->update == NULL) {
            optimizer_step_parts(o, s->arenas.params, s->arenas.grads, begin, end, step, lr,
                                 norms2);
            end_update(s, "optimizer", begin_ns);
        } else {
            sync_optimize(s, o, begin, end, step, lr);
        }
    }
    return OK;
}

static double norm2_between(const struct sync *s, size_t begin, size_t end)
{
    return begin < end ? local_norm2(s->exec, s->arenas.grads + begin, end - begin) : 0;
}

/* Returns the sum of squares of gradients [begin, end), over the tensors that this rank includes in
 * norms. */
static double norm2_of_own(const struct sync *s, size_t begin, size_t end)
{
    double sum = 0;
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        size_t first = t->offset > begin ? t->offset : begin, last = t->offset + t->count;
        if (s->in_norm[i])
            sum += norm2_between(s, first, last < end ? last : end);
    }
    return sum;
}

/* If the hook norm2_local is NULL, every rank holds the whole gradient. Each rank then sums the
 * squares of an equal part of the gradient. */
double sync_norm2_local(struct sync *s)
{
    size_t begin, end;
    if (s->strategy->norm2_local != NULL)
        return s->strategy->norm2_local(s);
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    return s->in_norm != NULL ? norm2_of_own(s, begin, end) : norm2_between(s, begin, end);
}

/* Scales gradients [begin, end) by clip_norm / norm if the norm, the root of norm2, exceeds
 * clip_norm. A NaN norm leaves the gradients unchanged, so that divergence stays visible. */
static void scale_to_norm(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                          double norm2)
{
    double norm = sqrt(norm2);
    if (norm > o->clip_norm)
        local_scale(s->exec, s->arenas.grads + begin, end - begin, (real)(o->clip_norm / norm));
}

/* Scales the gradients in `spans` [n] if the norm of the whole network's gradient, over all ranks
 * and all parts of the network, exceeds clip_norm. Collective. */
static enum status clip_by_norm(struct sync *s, const struct optimizer *o, const struct span *spans,
                                size_t n, struct error *e)
{
    int64_t begin_ns = clock_ns();
    double norm2 = s->update == NULL ? sync_norm2_local(s) : 0;
    end_update(s, "clipping", begin_ns);
    struct extra_sum sum = {&norm2,  1,       MPI_DOUBLE,
                            MPI_SUM, s->comm, "sum of the gradient's squares"};
    TRY(sync_extra_sum(s, &sum, sync_comm_end, e));
    if (s->parts != NULL) {
        sum.comm = *s->parts;
        sum.operation = "sum of squares over parts of the network";
        TRY(sync_extra_sum(s, &sum, sync_comm_end, e));
    }
    begin_ns = clock_ns();
    for (size_t i = 0; i < n; i++)
        scale_to_norm(s, o, spans[i].begin, spans[i].begin + spans[i].n, norm2);
    end_update(s, "clipping", begin_ns);
    return OK;
}

static void clip_by_value(struct sync *s, const struct optimizer *o, size_t begin, size_t end)
{
    if (o->clip_value == 0)
        return;
    int64_t begin_ns = clock_ns();
    if (s->update == NULL)
        local_clamp(s->exec, s->arenas.grads + begin, end - begin, (real)o->clip_value);
    end_update(s, "clipping", begin_ns);
}

bool sync_finishes_sum(const struct sync *s, const struct optimizer *o)
{
    return s->config.scale == GRADIENT_SCALE_post || o->clip_norm > 0 || o->clip_value > 0 ||
           s->config.precision == PRECISION_fp16 || s->takes_norm2;
}

/* ---- 16 bits ---- */

static void find_own_overflow(struct sync *s, size_t begin, size_t end)
{
    if (s->config.precision != PRECISION_fp16)
        return;
    int64_t begin_ns = clock_ns();
    s->overflow |= !local_is_finite(s->exec, s->arenas.grads + begin, end - begin);
    end_update(s, "search for an overflow", begin_ns);
}

static enum status agree_on_overflow(struct sync *s, struct error *e)
{
    int overflow = s->overflow;
    if (s->config.precision != PRECISION_fp16)
        return OK;
    const struct extra_sum sum = {&overflow, 1,       MPI_INT,
                                  MPI_MAX,   s->comm, "agreement on an overflow"};
    enum status status = sync_extra_sum(s, &sum, sync_comm_end, e);
    s->overflow = overflow != 0;
    return status;
}

/* In fp16, rounds the gradients of a rank that does not send them, to find overflows. bf16 has the
 * range of fp32, so bf16 gradients are left in full precision. */
static void round_gradients(struct sync *s, const struct optimizer *o)
{
    if (s->config.precision != PRECISION_fp16)
        return;
    const struct cast16 *cast = local_cast16(s->config.precision, o->isa);
    sync_pack_begin(s);
    local_round16(s->exec, cast, s->arenas.grads, s->arenas.n, (float)(1 / s->loss_scale.value));
    sync_pack_end(s);
}

/* ---- The whole ---- */

enum status sync_finish_sums(struct sync *s, const struct optimizer *o, const struct span *spans,
                             size_t n, struct error *e)
{
    s->sum_finished = true;
    if (!sync_finishes_sum(s, o))
        /* common case: skips the code below, which is rarely in the instruction cache */
        return OK;
    if (s->takes_norm2)
        s->sum_norm2 = sync_norm2_local(s);
    for (size_t i = 0; i < n; i++)
        find_own_overflow(s, spans[i].begin, spans[i].begin + spans[i].n);
    TRY(agree_on_overflow(s, e));
    if (s->overflow)
        return OK;
    for (size_t i = 0; i < n; i++) {
        if (s->config.scale == GRADIENT_SCALE_post)
            sync_scale(s, s->arenas.grads + spans[i].begin, spans[i].n, (real)(1.0 / s->ranks));
        clip_by_value(s, o, spans[i].begin, spans[i].begin + spans[i].n);
    }
    return o->clip_norm > 0 ? clip_by_norm(s, o, spans, n, e) : OK;
}

enum status sync_finish_sum(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                            struct error *e)
{
    const struct span all = {.begin = begin, .n = end - begin};
    return sync_finish_sums(s, o, &all, 1, e);
}

enum status sync_update(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                        struct error *e)
{
    TRY(sync_finish_sum(s, o, 0, s->arenas.n, e));
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
    return OK;
}

static void clip_alone_by_norm(struct sync *s, const struct optimizer *o)
{
    int64_t begin_ns = clock_ns();
    if (s->update == NULL)
        scale_to_norm(s, o, 0, s->arenas.n, local_norm2(s->exec, s->arenas.grads, s->arenas.n));
    end_update(s, "clipping", begin_ns);
}

void sync_clip_alone(struct sync *s, const struct optimizer *o)
{
    s->sum_finished = true;
    if (s->config.precision != PRECISION_fp16 && !sync_finishes_sum(s, o))
        return;
    round_gradients(s, o);
    find_own_overflow(s, 0, s->arenas.n);
    clip_by_value(s, o, 0, s->arenas.n);
    if (o->clip_norm > 0)
        clip_alone_by_norm(s, o);
}

void sync_update_alone(struct sync *s, const struct optimizer *o, uint64_t step, double lr)
{
    sync_clip_alone(s, o);
    sync_optimize(s, o, 0, s->arenas.n, step, lr);
}
