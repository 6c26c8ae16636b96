/* Opens, runs and closes the operations to time, on gradients whose sum is known. */
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Factors in the formula of the gradients. The gradients are small integers that repeat every
 * PERIOD numbers, so that a sum is exact in any order. Gradients of odd and even steps cancel, so
 * parameters stay small. */
enum { STEP = 7, SHIFT = 13 };

/* Number of untimed calls of MPI_Allreduce before the first round, since MPICH changes its
 * algorithm after five calls on a communicator. */
enum { WARM_CALLS = 6 };

static real gradient(int rank, size_t i)
{
    return (real)((int)((i * STEP + (size_t)rank * SHIFT) % PERIOD) - PERIOD / 2);
}

void gradients_fill(const struct contender *c, int rank, real *to, size_t n)
{
    real pattern[PERIOD];
    for (size_t i = 0; i < PERIOD; i++)
        pattern[i] = c->steps % 2 == 1 ? gradient(rank, i) : -gradient(rank, i);
    for (size_t i = 0; i < n; i += PERIOD)
        memcpy(to + i, pattern, (n - i < PERIOD ? n - i : PERIOD) * sizeof *to);
}

void gradients_sum(const struct sweep *s, const struct contender *c, real sums[PERIOD])
{
    real own[PERIOD];
    memset(sums, 0, PERIOD * sizeof *sums);
    for (int r = 0; r < s->ranks; r++) {
        gradients_fill(c, r, own, PERIOD);
        for (int i = 0; i < PERIOD; i++)
            sums[i] += own[i];
    }
}

enum status contender_choose(struct sweep *s, const struct contender *c, struct error *e)
{
    if (c->config.algorithm != ALGORITHM_auto)
        return algorithm_use(c->config.algorithm, e);
    return s->can_choose ? algorithm_write(&s->library, e) : OK;
}

/* ---- Opening ---- */

static enum status open_strategy(struct sweep *s, const struct problem *p, struct contender *c,
                                 struct error *e)
{
    c->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd,
                                      .n = p->desc->n_params,
                                      .tensors = p->desc->tensors,
                                      .n_tensors = p->desc->n_tensors};
    const struct sync_options options = {.comm = MPI_COMM_WORLD,
                                         .desc = p->desc,
                                         .config = c->config,
                                         .slots = optimizer_slots(OPTIMIZER_sgd),
                                         .waiter = &s->waiter,
                                         .exec = &s->exec};
    TRY(sync_create(&c->sync, c->kind, &options, e));
    c->optimizer.state = c->sync->arenas.state;
    return OK;
}

/* Returns OK if all ranks can run the operation, ERR_UNAVAILABLE if none can. If only some can,
 * returns an error on every rank. The sweep then ends, since ranks that opened the operation may
 * already be waiting for the others. */
static enum status agree(struct sweep *s, enum status mine, struct error *e)
{
    int failed[2] = {mine != OK, mine == OK};
    TRY(wait_allreduce(&s->waiter, failed, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                       "agreement on an operation", e));
    if (!failed[0])
        return OK;
    if (failed[1])
        return mine != OK ? mine
                          : error_set(e, ERR_SYSTEM,
                                      "an operation of the sweep can start on this rank, but not "
                                      "on another rank. See the error message of that rank");
    e->status = ERR_UNAVAILABLE;
    return ERR_UNAVAILABLE;
}

static enum status open_here(struct sweep *s, const struct problem *p, struct contender *c,
                             struct error *e)
{
    TRY(MEM_KEEP(&c->memory, c->round_ns, (size_t)s->options->rounds, "the times of rounds", e));
    TRY(contender_choose(s, c, e));
    if (c->is_raw)
        return MEM_KEEP(&c->memory, c->sums, p->desc->n_params, "the sums of gradients", e);
    return open_strategy(s, p, c, e);
}

enum status contender_open(struct sweep *s, const struct problem *p, struct contender *c,
                           struct error *e)
{
    int64_t ns;
    TRY(agree(s, open_here(s, p, c, e), e));
    c->serve = s->waiter.serve;
    c->serve_arg = s->waiter.serve_arg;
    for (int i = 0; c->is_raw && i < WARM_CALLS; i++)
        TRY(contender_step(s, p, c, &ns, e));
    return contender_leave(s, e);
}

void contender_enter(struct sweep *s, const struct contender *c)
{
    s->waiter.serve = c->serve;
    s->waiter.serve_arg = c->serve_arg;
}

enum status contender_leave(struct sweep *s, struct error *e)
{
    enum status status = wait_barrier(&s->waiter, MPI_COMM_WORLD, "end of a round", e);
    s->waiter.serve = NULL;
    s->waiter.serve_arg = NULL;
    return status;
}

void contender_close(struct sweep *s, struct contender *c)
{
    contender_enter(s, c);
    mem_room_empty(&c->memory);
    sync_destroy(c->sync);
    c->sync = NULL;
    s->waiter.serve = NULL;
    s->waiter.serve_arg = NULL;
}

/* ---- A step ---- */

static bool is_spoilt(const struct sweep *s, const struct contender *c)
{
    const char *name = s->options->spoil;
    return name != NULL && !c->is_raw && strcmp(name, strategy_names()[c->kind]) == 0;
}

/* Waits until all ranks have their gradients, so that only the sum is timed. The operation's number
 * of calls does not include this barrier. */
static enum status begin_together(struct sweep *s, struct error *e)
{
    uint64_t calls = s->waiter.calls;
    TRY(wait_barrier(&s->waiter, MPI_COMM_WORLD, "gradients of all ranks", e));
    s->waiter.calls = calls;
    return OK;
}

/* Times MPI_Allreduce alone. If ranks must not block in MPI, times MPI_Iallreduce and a wait by the
 * sweep's waiter instead. */
static enum status step_raw(struct sweep *s, struct contender *c, size_t n, int64_t *ns,
                            struct error *e)
{
    gradients_fill(c, s->rank, c->sums, n);
    TRY(begin_together(s, e));
    int64_t begin_ns = clock_ns();
    if (s->waiter.kind == WAIT_BLOCK) {
        int code =
            MPI_Allreduce(MPI_IN_PLACE, c->sums, (int)n, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD);
        if (code != MPI_SUCCESS)
            return error_set(e, ERR_MPI, "MPI_Allreduce: MPI error %d", code);
    } else {
        TRY(wait_allreduce(&s->waiter, c->sums, n, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD,
                           "MPI_Iallreduce", e));
    }
    *ns = clock_ns() - begin_ns;
    return OK;
}

/* Calls the strategy as a training step does, but without forward and backward passes. As in a
 * backward pass, the last tensor's gradients are ready first. */
static enum status step_strategy(struct sweep *s, const struct problem *p, struct contender *c,
                                 int64_t *ns, struct error *e)
{
    struct sync *sync = c->sync;
    const struct range all = {0, p->desc->n_tensors};
    int64_t begin_ns = clock_ns();
    sync_step_begin(sync);
    TRY(sync_params_needed(sync, all, PASS_FORWARD, e));
    sync_params_done(sync, all, PASS_FORWARD);
    TRY(sync_params_needed(sync, all, PASS_BACKWARD, e));
    int64_t spent_ns = clock_ns() - begin_ns;

    real *grads = sync_grad_buffer(sync, all);
    gradients_fill(c, s->rank, grads, p->desc->n_params);
    if (is_spoilt(s, c) && s->rank == 0 && p->desc->n_params > 0)
        grads[p->desc->n_params - 1] += 1;
    TRY(begin_together(s, e));

    begin_ns = clock_ns();
    for (int t = p->desc->n_tensors - 1; t >= 0; t--)
        TRY(sync_grad_ready(sync, (struct range){t, t + 1}, 0, true, e));
    sync_params_done(sync, all, PASS_BACKWARD);
    TRY(sync_step_end(sync, &c->optimizer, c->steps, 1.0, e));
    *ns = spent_ns + clock_ns() - begin_ns - sync->times.optimizer_ns;
    return OK;
}

enum status contender_step(struct sweep *s, const struct problem *p, struct contender *c,
                           int64_t *ns, struct error *e)
{
    const struct waiter before = s->waiter;
    c->steps++;
    enum status status =
        c->is_raw ? step_raw(s, c, p->desc->n_params, ns, e) : step_strategy(s, p, c, ns, e);
    c->calls = (double)(s->waiter.calls - before.calls);
    c->bytes_payload = (double)(s->waiter.bytes_payload - before.bytes_payload);
    c->messages_sent = (double)(s->waiter.messages_sent - before.messages_sent);
    c->bytes_sent = (double)(s->waiter.bytes_sent - before.bytes_sent);
    return status;
}
