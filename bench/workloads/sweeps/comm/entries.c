/* Operations one by one: opened, stepped on gradients whose sum is known, checked. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Gradients are small integers, repeated every PERIOD numbers, so that every order of summation is
 * exact; odd and even steps cancel, so that parameters stay small. */
enum { STEP = 7, SHIFT = 13 };

/* MPICH changes its algorithm after five calls on a communicator. */
enum { WARM_CALLS = 6 };

static real gradient(int rank, size_t i)
{
    return (real)((int)((i * STEP + (size_t)rank * SHIFT) % PERIOD) - PERIOD / 2);
}

static bool is_odd(const struct entry *entry)
{
    return entry->steps % 2 == 1;
}

void gradients_fill(const struct entry *entry, int rank, real *to, size_t n)
{
    real pattern[PERIOD];
    for (size_t i = 0; i < PERIOD; i++)
        pattern[i] = is_odd(entry) ? gradient(rank, i) : -gradient(rank, i);
    for (size_t i = 0; i < n; i += PERIOD)
        memcpy(to + i, pattern, (n - i < PERIOD ? n - i : PERIOD) * sizeof *to);
}

enum status entry_choose(struct sweep *s, const struct entry *entry, struct error *e)
{
    if (entry->config.algorithm != ALGORITHM_auto)
        return algorithm_use(entry->config.algorithm, e);
    return s->can_choose ? algorithm_write(&s->library, e) : OK;
}

/* ---- Opening ---- */

static enum status open_raw(struct sweep *s, struct entry *entry, size_t n, struct error *e)
{
    (void)s;
    entry->sums = mem_alloc(n * sizeof *entry->sums);
    if (entry->sums == NULL)
        return error_set(e, ERR_MEMORY, "no memory for %zu numbers", n);
    return OK;
}

static enum status open_strategy(struct sweep *s, const struct problem *p, struct entry *entry,
                                 struct error *e)
{
    entry->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd,
                                          .n = p->desc->n_params,
                                          .tensors = p->desc->tensors,
                                          .n_tensors = p->desc->n_tensors};
    const struct sync_options options = {.comm = MPI_COMM_WORLD,
                                         .desc = p->desc,
                                         .config = entry->config,
                                         .slots = optimizer_slots(OPTIMIZER_sgd),
                                         .waiter = &s->waiter,
                                         .exec = &s->exec};
    enum status status = sync_create(&entry->sync, entry->kind, &options, e);
    if (status == OK)
        entry->optimizer.state = entry->sync->arenas.state;
    return status;
}

/* A strategy that some ranks can run and others cannot has left the latter waiting, or leaves
 * memory that is shared with nobody: nothing can go on then. */
static enum status agree(struct sweep *s, enum status mine, struct error *e)
{
    int failed[2] = {mine != OK, mine == OK};
    enum status status = wait_allreduce(&s->waiter, failed, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                                        "agreement on an operation", e);
    if (status != OK || !failed[0])
        return status;
    if (failed[1])
        return mine != OK ? mine
                          : error_set(e, ERR_SYSTEM, "another rank cannot open the operation");
    e->status = ERR_UNAVAILABLE;
    return ERR_UNAVAILABLE;
}

enum status entry_open(struct sweep *s, const struct problem *p, struct entry *entry,
                       struct error *e)
{
    size_t n = p->desc->n_params;
    entry->turn_ns = calloc((size_t)s->options->turns, sizeof *entry->turn_ns);
    enum status status = entry->turn_ns != NULL ? OK
                                                : error_set(e, ERR_MEMORY, "no memory for %d times",
                                                            s->options->turns);
    if (status == OK)
        status = entry_choose(s, entry, e);
    if (status == OK)
        status = entry->is_raw ? open_raw(s, entry, n, e) : open_strategy(s, p, entry, e);
    status = agree(s, status, e);
    entry->is_open = status == OK;
    entry->serve = s->waiter.serve;
    entry->serve_arg = s->waiter.serve_arg;
    for (int i = 0; status == OK && entry->is_raw && i < WARM_CALLS; i++) {
        int64_t ns;
        status = entry_step(s, p, entry, &ns, e);
    }
    return status == OK ? entry_leave(s, e) : status;
}

void entry_enter(struct sweep *s, const struct entry *entry)
{
    s->waiter.serve = entry->serve;
    s->waiter.serve_arg = entry->serve_arg;
}

enum status entry_leave(struct sweep *s, struct error *e)
{
    enum status status = wait_barrier(&s->waiter, MPI_COMM_WORLD, "end of a turn", e);
    s->waiter.serve = NULL;
    s->waiter.serve_arg = NULL;
    return status;
}

void entry_close(struct sweep *s, struct entry *entry)
{
    entry_enter(s, entry);
    free(entry->turn_ns);
    mem_free(entry->sums);
    if (entry->is_open)
        sync_destroy(entry->sync);
    entry->turn_ns = NULL;
    entry->sums = NULL;
    entry->sync = NULL;
    entry->is_open = false;
    s->waiter.serve = NULL;
    s->waiter.serve_arg = NULL;
}

/* ---- A step ---- */

static bool is_spoilt(const struct sweep *s, const struct entry *entry)
{
    const char *name = s->options->spoil;
    return name != NULL && !entry->is_raw && strcmp(name, strategy_names()[entry->kind]) == 0;
}

/* Gradients of ranks are ready at the same time, so that what is timed is the sum and not who
 * filled its memory faster. The barrier is no call of the operation's. */
static enum status begin_together(struct sweep *s, struct error *e)
{
    uint64_t calls = s->waiter.calls;
    enum status status = wait_barrier(&s->waiter, MPI_COMM_WORLD, "gradients of all ranks", e);
    s->waiter.calls = calls;
    return status;
}

/* The library's blocking call, without anything of ours around it; where ranks may not block, the
 * other one, completed as our waits are. */
static enum status step_raw(struct sweep *s, struct entry *entry, size_t n, int64_t *ns,
                            struct error *e)
{
    gradients_fill(entry, s->rank, entry->sums, n);
    enum status status = begin_together(s, e);
    if (status != OK)
        return status;
    int64_t begin_ns = clock_ns();
    if (s->waiter.kind == WAIT_BLOCK) {
        int code = MPI_Allreduce(MPI_IN_PLACE, entry->sums, (int)n, MPI_REAL_TYPE, MPI_SUM,
                                 MPI_COMM_WORLD);
        if (code != MPI_SUCCESS)
            status = error_set(e, ERR_MPI, "MPI_Allreduce: MPI error %d", code);
    } else {
        status = wait_allreduce(&s->waiter, entry->sums, n, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD,
                                "MPI_Iallreduce", e);
    }
    *ns = clock_ns() - begin_ns;
    return status;
}

/* As a training step calls the hooks, but for the computing; gradients of the last tensor are
 * ready first. */
static enum status step_strategy(struct sweep *s, const struct problem *p, struct entry *entry,
                                 int64_t *ns, struct error *e)
{
    struct sync *sync = entry->sync;
    const struct range all = {0, p->desc->n_tensors};
    int64_t begin_ns = clock_ns();
    sync_step_begin(sync);
    enum status status = sync_params_needed(sync, all, PASS_FORWARD, e);
    sync_params_done(sync, all, PASS_FORWARD);
    if (status == OK)
        status = sync_params_needed(sync, all, PASS_BACKWARD, e);
    int64_t spent_ns = clock_ns() - begin_ns;
    if (status != OK)
        return status;

    real *grads = sync_grad_buffer(sync, all);
    gradients_fill(entry, s->rank, grads, p->desc->n_params);
    if (is_spoilt(s, entry) && s->rank == 0 && p->desc->n_params > 0)
        grads[p->desc->n_params - 1] += 1;
    TRY(begin_together(s, e));

    begin_ns = clock_ns();
    for (int t = p->desc->n_tensors - 1; status == OK && t >= 0; t--)
        status = sync_grad_ready(sync, (struct range){t, t + 1}, 0, true, e);
    sync_params_done(sync, all, PASS_BACKWARD);
    if (status == OK)
        status = sync_step_end(sync, &entry->optimizer, entry->steps, 1.0, e);
    *ns = spent_ns + clock_ns() - begin_ns - sync->times.optimizer_ns;
    return status;
}

enum status entry_step(struct sweep *s, const struct problem *p, struct entry *entry, int64_t *ns,
                       struct error *e)
{
    const struct waiter before = s->waiter;
    entry->steps++;
    enum status status = entry->is_raw ? step_raw(s, entry, p->desc->n_params, ns, e)
                                       : step_strategy(s, p, entry, ns, e);
    entry->calls = (double)(s->waiter.calls - before.calls);
    entry->bytes_payload = (double)(s->waiter.bytes_payload - before.bytes_payload);
    entry->messages_sent = (double)(s->waiter.messages_sent - before.messages_sent);
    entry->bytes_sent = (double)(s->waiter.bytes_sent - before.bytes_sent);
    return status;
}

/* ---- What it left ---- */

/* x [n] is `sign` times the sum over ranks, or 0 for sign 0. */
static bool is_sum(const struct sweep *s, const real *x, size_t n, int sign)
{
    real sums[PERIOD] = {0};
    bool good = true;
    for (size_t i = 0; i < PERIOD; i++)
        for (int r = 0; r < s->ranks; r++)
            sums[i] += (real)sign * gradient(r, i);
    for (size_t i = 0; i < n; i += PERIOD)
        for (size_t k = 0; k < PERIOD && i + k < n; k++)
            good = good && x[i + k] == sums[k];
    return good;
}

/* Where evaluation would look. */
static enum status check_strategy(struct sweep *s, struct entry *entry, size_t n, bool *good,
                                  struct error *e)
{
    enum status status = sync_eval_begin(entry->sync, e);
    if (status == OK)
        *good = is_sum(s, entry->sync->arenas.params, n, is_odd(entry) ? -1 : 0);
    return status == OK ? sync_eval_end(entry->sync, e) : status;
}

enum status entry_check(struct sweep *s, const struct problem *p, struct entry *entry,
                        struct error *e)
{
    size_t n = p->desc->n_params;
    bool good = true;
    enum status status = OK;
    if (entry->is_raw)
        good = is_sum(s, entry->sums, n, is_odd(entry) ? 1 : -1);
    else if (entry->config.compressor != COMPRESSOR_none)
        status = compressed_check(s, p, entry, &good, e);
    else
        status = check_strategy(s, entry, n, &good, e);
    int all = good;
    if (status == OK)
        status = wait_allreduce(&s->waiter, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD,
                                "agreement on a verdict", e);
    entry->is_right = entry->is_right && all;
    return status;
}
