#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/compress.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

#define STRATEGY(name, flags, source, summary) extern const struct strategy strategy_##name;
#include "comm/cost/strategies.def"

static const struct strategy *const STRATEGY_TABLE[] = {
#define STRATEGY(name, flags, source, summary) &strategy_##name,
#include "comm/cost/strategies.def"
};

enum status arenas_alloc(struct arenas *a, struct error *e)
{
    if (a->params == NULL)
        TRY(MEM_NEW_ALIGNED(a->params, a->n, "parameters", e));
    if (a->grads == NULL)
        TRY(MEM_NEW_ALIGNED(a->grads, a->n, "gradients", e));
    if (a->state != NULL)
        return OK;
    return MEM_NEW_ALIGNED(a->state, a->n * (size_t)a->slots, "optimizer state", e);
}

static enum status count_tensors(struct sync *s, struct error *e)
{
    size_t n = (size_t)s->arenas.n_tensors;
    TRY(MEM_KEEP(&s->memory, s->counts, 2 * n, "the sizes of tensors", e));
    for (size_t i = 0; i < n; i++)
        s->counts[i] = s->arenas.tensors[i].count;
    size_t *rows = s->counts + n;
    for (size_t i = 0; i < n; i++)
        rows[i] = s->arenas.tensors[i].n_dims > 1 ? (size_t)s->arenas.tensors[i].dims[0] : 0;
    s->config.rows = rows;
    return OK;
}

static enum status open_compressor(struct sync *s, struct error *e)
{
    s->compressor = compressor_get(s->config.compressor);
    if (s->compressor == NULL)
        return OK;
    if (!(strategy_flags(s->kind) & STRATEGY_COMPRESSES))
        return error_set(e, ERR_ARGUMENT, "strategy %s does not support compressors, found %s",
                         strategy_names()[s->kind], compressor_names()[s->config.compressor]);
    TRY(mem_keep(&s->memory, &s->compression, 1, s->compressor->context_bytes, "a compressor", e));
    TRY(s->compressor->create(s, e));
    if (s->compressor->begin != NULL)
        s->compressor->begin(s);
    return OK;
}

static void take_options(struct sync *s, const struct sync_options *options)
{
    s->config = options->config;
    loss_scale_open(&s->loss_scale, &options->loss_scale);
    s->parts = options->parts;
    s->in_norm = options->in_norm;
    s->waiter = options->waiter;
    s->exec = options->exec;
    s->before_update = options->before_update;
    s->before_update_arg = options->before_update_arg;
    s->update = options->update;
    s->update_arg = options->update_arg;
    s->arenas.tensors = options->desc->tensors;
    s->arenas.n_tensors = options->desc->n_tensors;
    s->arenas.n = options->desc->n_params;
    s->arenas.slots = options->slots;
    s->arenas.n_buffers = options->desc->n_buffer_values;
}

/* Opens strategy, compressor and arenas. If this fails half-way, sync_destroy frees the allocated
 * parts. */
static enum status open_strategy(struct sync *s, struct error *e)
{
    TRY(count_tensors(s, e));
    TRY(MEM_KEEP(&s->memory, s->arenas.buffers, s->arenas.n_buffers, "running statistics", e));
    TRY(open_compressor(s, e));
    if (s->strategy->context_bytes > 0)
        TRY(mem_keep(&s->memory, &s->context, 1, s->strategy->context_bytes, "a strategy", e));
    TRY(s->strategy->create(s, e));
    s->config.calls = waiter_blocks(s->waiter) ? CALL_BLOCKING : CALL_NONBLOCKING;
    return OK;
}

enum status sync_create(struct sync **sync, enum strategy_kind kind,
                        const struct sync_options *options, struct error *e)
{
    struct sync *s;
    TRY(MEM_NEW(s, 1, "a strategy", e));
    s->kind = kind;
    s->strategy = STRATEGY_TABLE[kind];
    take_options(s, options);
    enum status status =
        wait_comm_dup(s->waiter, options->comm, &s->comm, "communicator of the strategy", e);
    if (status != OK) {
        free(s);
        return status;
    }
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->ranks);
    status = open_strategy(s, e);
    if (status == OK)
        *sync = s;
    else
        sync_destroy(s);
    return status;
}

void sync_destroy(struct sync *s)
{
    if (s == NULL)
        return;
    if (s->context != NULL && s->strategy->destroy != NULL)
        s->strategy->destroy(s);
    if (s->compression != NULL && s->compressor->destroy != NULL)
        s->compressor->destroy(s);
    mem_room_empty(&s->memory);
    mem_free(s->arenas.params);
    mem_free(s->arenas.grads);
    mem_free(s->arenas.state);
    MPI_Comm_free(&s->comm);
    free(s);
}

void sync_step_begin(struct sync *s)
{
    memset(&s->times, 0, sizeof s->times);
    s->extra = (struct cost){.wire_source = "none"};
    s->sum_finished = false;
    s->overflow = false;
    s->computes_on = false;
    s->comm_begin_ns = s->waited_ns = 0;
    if (s->strategy->step_begin != NULL)
        s->strategy->step_begin(s);
}

enum status sync_params_needed(struct sync *s, struct range range, enum pass pass, struct error *e)
{
    return s->strategy->params_needed != NULL ? s->strategy->params_needed(s, range, pass, e) : OK;
}

void sync_params_done(struct sync *s, struct range range, enum pass pass)
{
    if (s->strategy->params_done != NULL)
        s->strategy->params_done(s, range, pass);
}

real *sync_grad_buffer(struct sync *s, struct range range)
{
    if (s->strategy->grad_buffer != NULL)
        return s->strategy->grad_buffer(s, range);
    return s->arenas.grads;
}

enum status sync_grad_ready(struct sync *s, struct range range, int micro, bool last,
                            struct error *e)
{
    if (last && s->config.scale == GRADIENT_SCALE_pre) {
        const struct span span = span_of(&s->arenas, range);
        sync_scale(s, s->arenas.grads + span.begin, span.n, (real)(1.0 / s->ranks));
    }
    return s->strategy->grad_ready != NULL ? s->strategy->grad_ready(s, range, micro, last, e) : OK;
}

void sync_poll(struct sync *s)
{
    if (s->strategy->poll == NULL)
        return;
    int64_t begin_ns = clock_ns(), exposed_ns = s->times.comm_exposed_ns;
    s->polls = true;
    bool some = s->strategy->poll(s);
    s->polls = false;
    if (!some)
        return;
    int64_t end_ns = clock_ns();
    if (s->comm_begin_ns == 0)
        s->comm_begin_ns = begin_ns;
    s->times.comm_exposed_ns +=
        end_ns - begin_ns; /* `poll` already subtracts optimizer and packing from comm_exposed_ns */
    s->times.poll_ns += s->times.comm_exposed_ns - exposed_ns;
    s->times.comm_total_ns = end_ns - s->comm_begin_ns;
    timeline_add(s->waiter->timeline, PHASE_comm, "test of messages", begin_ns, end_ns);
}

enum status sync_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                          struct error *e)
{
    if (s->strategy->step_end != NULL)
        return s->strategy->step_end(s, o, step, lr, e);
    TRY(s->strategy->sum_gradients(s, e));
    return sync_update(s, o, step, lr, e);
}

enum status sync_eval_begin(struct sync *s, struct error *e)
{
    return s->strategy->eval_begin != NULL ? s->strategy->eval_begin(s, e) : OK;
}

enum status sync_eval_end(struct sync *s, struct error *e)
{
    return s->strategy->eval_end != NULL ? s->strategy->eval_end(s, e) : OK;
}

enum status sync_save(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    *data = NULL;
    *bytes = 0;
    if (s->compressor != NULL && s->compressor->memory != NULL) {
        *data = s->compressor->memory(s, bytes);
        return OK;
    }
    return s->strategy->save != NULL ? s->strategy->save(s, data, bytes, e) : OK;
}

static enum status restore_compressor(struct sync *s, const void *data, size_t bytes,
                                      struct error *e)
{
    size_t expected;
    void *memory = s->compressor->memory(s, &expected);
    if (bytes == 0) {
        s->compressor->begin(s);
        return OK;
    }
    if (bytes != expected)
        return error_set(e, ERR_DATA, "compressor %s: expected a state of %zu bytes, found %zu",
                         compressor_names()[s->config.compressor], expected, bytes);
    memcpy(memory, data, bytes);
    return OK;
}

enum status sync_keeps_nothing(const struct sync *s, size_t bytes, struct error *e)
{
    if (bytes == 0)
        return OK;
    return error_set(e, ERR_DATA, "strategy %s: expected no saved state, found %zu bytes",
                     strategy_names()[s->kind], bytes);
}

enum status sync_restore(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    if (s->compressor != NULL && s->compressor->memory != NULL)
        return restore_compressor(s, data, bytes, e);
    return s->strategy->restore != NULL ? s->strategy->restore(s, data, bytes, e)
                                        : sync_keeps_nothing(s, bytes, e);
}

enum status sync_sum(struct sync *s, struct range tensors, const char *operation, struct error *e)
{
    if (s->compressor != NULL)
        return s->compressor->sum(s, tensors, e);
    const struct span span = span_of(&s->arenas, tensors);
    return sync_allreduce(s, s->arenas.grads + span.begin, span.n, operation, e);
}

unsigned sync_flags(const struct sync *s)
{
    return strategy_config_flags(s->kind, s->config.variant);
}

const char *sync_title(const struct sync *s, char text[SYNC_TITLE])
{
    char of[COMPRESSOR_TITLE];
    snprintf(text, SYNC_TITLE, "%s%s%s%s%s", strategy_names()[s->kind],
             s->compressor != NULL ? " + " : "",
             s->compressor != NULL ? compressor_names()[s->config.compressor] : "",
             compressor_title(&s->config, of),
             s->config.scale == GRADIENT_SCALE_post ? ", scaled after" : "");
    return text;
}

struct cost sync_cost(const struct sync *s)
{
    return strategy_cost(s->kind, &s->config, s->rank, s->ranks, s->counts,
                         (size_t)s->arenas.n_tensors, sizeof(real));
}

enum status sync_broadcast_params(struct sync *s, struct error *e)
{
    return wait_bcast(s->waiter, s->arenas.params, s->arenas.n, MPI_REAL_TYPE, 0, s->comm,
                      "broadcast of the initial weights", e);
}

enum status sync_broadcast_buffers(struct sync *s, struct error *e)
{
    return wait_bcast(s->waiter, s->arenas.buffers, s->arenas.n_buffers, MPI_REAL_TYPE, 0, s->comm,
                      "broadcast of the running statistics", e);
}
