/* param_server: servers hold the parameters and the optimizer's state. At the end of a step every
 * rank sends its gradient to the servers (push) and receives new weights (answer) (Li et al.,
 * "Scaling distributed machine learning with the parameter server", 2014).
 *
 * All p ranks compute. The first sync.servers ranks are also servers, each for an equal part of the
 * numbers.
 *
 * Costs one message in each direction between a rank and every server; a server copies its own
 * part. A server serves between layers, at each poll of sync.overlap, and in every wait
 * (waiter.serve). A server never waits for a rank that waits for this server.
 *
 * sync: computes the same as allreduce. The server sums all gradients of a step in the order of
 * ranks, runs the optimizer once and answers.
 *
 * stale: as sync, but with bounded delay (Li et al. 2014). After step t a rank continues once step
 * t - sync.staleness is complete. Its weights therefore lack the updates of at most sync.staleness
 * steps (Ho et al., "More effective distributed ML via a stale synchronous parallel parameter
 * server", 2013). With staleness 0, stale computes the same as sync, up to the order of sums.
 *
 * async: the server runs the optimizer on each gradient when it arrives, and answers at once (Dean
 * et al., "Large scale distributed deep networks", 2012).
 *
 * Gradients are divided by the global sample count. In async with plain SGD, p pushes therefore
 * change the weights as much as one step of the other variants. With Adam, LARS or LAMB, each push
 * changes the weights as much as a whole step, so choose a smaller learning rate. In stale and
 * async, the bits of the result depend on the order of pushes. Clipping acts on the sum of a step;
 * in async each rank clips its own gradient before it pushes. LARS, LAMB and (except in async)
 * clipping by norm require a single server.
 *
 * The evaluated model is the servers' model after all ranks have reached the same step. A
 * checkpoint holds this model with the servers' optimizer state; every rank resumes from it. */
#include <limits.h>

#include "comm/local_ops.h"
#include "comm/strategies/server.h"
#include "kernels/base/clock.h"

struct param_server {
    int servers;
    bool serves, ready, stepped;
    MPI_Comm replies;
    struct server server;             /* unused if this rank is no server */
    struct message *pushes, *answers; /* [servers] this rank's messages to and from each server */
    /* [n] this rank's weights, saved while the servers' weights are evaluated */
    real *weights;
    int code; /* MPI_SUCCESS, or code of the first MPI call that failed */
};

/* ---- A step ---- */

static void serve(void *arg)
{
    struct sync *s = arg;
    struct param_server *p = s->context;
    struct waiter *w = s->waiter;
    uint64_t calls = w->calls, bytes = w->bytes_payload;
    if (p->serves && p->code == MPI_SUCCESS)
        p->code = server_serve(&p->server);
    w->served_calls += w->calls - calls;
    w->served_bytes += w->bytes_payload - bytes;
}

/* If this rank is a server, serves pushes between two layers of the network. The optimizer runs on
 * a single thread here, because the network uses the thread pool. */
static void serve_between(struct sync *s)
{
    struct param_server *p = s->context;
    if (!p->serves)
        return;
    sync_call_begin(s);
    serve(s);
    sync_call_end(s);
}

/* Serves pushes if this rank is a server, and returns whether it is one. The serving time is
 * recorded only if the computing thread calls this function. */
static bool param_server_poll(struct sync *s)
{
    struct param_server *p = s->context;
    if (!p->serves)
        return false;
    p->server.untimed = !s->polls;
    serve(s);
    p->server.untimed = false;
    return true;
}

static int push(struct sync *s)
{
    struct param_server *p = s->context;
    int code = MPI_SUCCESS;
    for (int j = 0; j < p->servers && code == MPI_SUCCESS; j++) {
        size_t begin, count;
        server_range(s, j, p->servers, &begin, &count);
        p->pushes[j] = p->answers[j] = (struct message){.request = MPI_REQUEST_NULL};
        if (j == s->rank)
            continue;
        size_t bytes = count * sizeof(real);
        p->pushes[j] = (struct message){.data = s->arenas.grads + begin, .bytes = bytes, .rank = j};
        p->answers[j] =
            (struct message){.data = s->arenas.params + begin, .bytes = bytes, .rank = j};
        code = message_begin_receive(s->waiter, &p->answers[j], 1, p->replies, SERVER_ANSWER);
        if (code == MPI_SUCCESS)
            code = message_begin_send(s->waiter, &p->pushes[j], 1, s->comm, SERVER_PUSH);
    }
    return code;
}

/* Returns whether this rank can continue: its pushes are sent and answered, or an MPI call failed.
 * In variant sync, a rank that serves must also have answered the pushes of all ranks. */
static bool is_answered(void *arg)
{
    struct sync *s = arg;
    struct param_server *p = s->context;
    bool done = !p->serves || server_is_answered(&p->server);
    for (int j = 0; j < p->servers && p->code == MPI_SUCCESS; j++) {
        bool pushed, answered = false;
        p->code = message_test(s->waiter, &p->pushes[j], &pushed);
        if (p->code == MPI_SUCCESS)
            p->code = message_test(s->waiter, &p->answers[j], &answered);
        done = done && pushed && answered;
    }
    return done || p->code != MPI_SUCCESS;
}

static enum status exchange(struct sync *s, uint64_t step, double lr, struct error *e)
{
    struct param_server *p = s->context;
    sync_comm_begin(s);
    if (p->code == MPI_SUCCESS) /* no MPI call has failed while serving */
        p->code = push(s);
    if (p->serves && p->code == MPI_SUCCESS) {
        p->server.pool = s->exec->pool;
        server_push(&p->server, step, lr);
    }
    enum status status = wait_until(s->waiter, is_answered, s, SERVER_PUSH, e);
    if (p->serves)
        p->server.pool = NULL;
    sync_comm_end(s);
    return status == OK ? message_status(s->waiter, p->code, SERVER_PUSH, e) : status;
}

/* ---- The servers' model ---- */

/* Copies the servers' weights to every rank, unless no step has run yet. After the barrier no push
 * is in transit, because each rank has received its last answer. */
static enum status gather_model(struct sync *s, struct error *e)
{
    const struct param_server *p = s->context;
    TRY(wait_barrier(s->waiter, s->comm, "barrier before the servers' weights are collected", e));
    if (!p->stepped)
        return OK;
    if (p->serves)
        local_copy(s->exec, s->arenas.params + p->server.begin, p->server.params,
                   p->server.count * sizeof(real));
    for (int j = 0; j < p->servers; j++) {
        size_t begin, count;
        server_range(s, j, p->servers, &begin, &count);
        TRY(wait_bcast(s->waiter, s->arenas.params + begin, count, MPI_REAL_TYPE, j, s->comm,
                       "weights of a parameter server", e));
    }
    return OK;
}

static enum status gather_state(struct sync *s, struct error *e)
{
    const struct param_server *p = s->context;
    for (int k = 0; k < s->arenas.slots * p->servers && p->stepped; k++) {
        size_t begin, count, slot = (size_t)(k / p->servers);
        server_range(s, k % p->servers, p->servers, &begin, &count);
        real *to = s->arenas.state + slot * s->arenas.n + begin;
        if (k % p->servers == s->rank)
            local_copy(s->exec, to, p->server.state + slot * count, count * sizeof *to);
        TRY(wait_bcast(s->waiter, to, count, MPI_REAL_TYPE, k % p->servers, s->comm,
                       "optimizer state of a parameter server", e));
    }
    return OK;
}

/* ---- Hooks ---- */

static bool has_replicas(const struct sync *s)
{
    return (sync_flags(s) & STRATEGY_EXACT) != 0;
}

static enum status check_parts(const struct sync *s, int servers, struct error *e)
{
    size_t most = s->arenas.n / (size_t)servers + 1;
    if (servers > s->ranks)
        return error_set(e, ERR_ARGUMENT,
                         "sync.servers = %d exceeds ranks = %d, but each server is a rank. "
                         "Use at most %d",
                         servers, s->ranks, s->ranks);
    if (most > s->waiter->message_most / sizeof(real))
        return error_set(e, ERR_ARGUMENT,
                         "each server has a shard of %zu numbers, more than fit into an MPI "
                         "message of at most %zu bytes. Raise sync.servers",
                         most, s->waiter->message_most);
    if (most > INT_MAX)
        return error_set(e, ERR_ARGUMENT,
                         "each server has a shard of %zu numbers, but MPI accepts at most %d in "
                         "one broadcast. Raise sync.servers",
                         most, INT_MAX);
    return OK;
}

static enum status open_messages(struct sync *s, struct error *e)
{
    struct param_server *p = s->context;
    size_t servers = (size_t)p->servers;
    TRY(wait_comm_dup(s->waiter, s->comm, &p->replies,
                      "communicator of a parameter server's answers", e));
    TRY(MEM_KEEP(&s->memory, p->pushes, servers, "pushes to parameter servers", e));
    TRY(MEM_KEEP(&s->memory, p->answers, servers, "answers of parameter servers", e));
    return MEM_KEEP(&s->memory, p->weights, s->arenas.n, "a rank's own weights", e);
}

static enum status param_server_create(struct sync *s, struct error *e)
{
    struct param_server *p = s->context;
    p->replies = MPI_COMM_NULL;
    int servers = (int)s->config.options[SYNC_servers];
    p->servers = servers > 1 ? servers : 1;
    p->serves = s->rank < p->servers;
    TRY(check_parts(s, p->servers, e));
    TRY(arenas_alloc(&s->arenas, e));
    TRY(open_messages(s, e));
    if (p->serves)
        TRY(server_create(&p->server, s, p->replies, p->servers, e));
    /* also set on ranks that are not servers, so that all ranks make the same MPI calls */
    s->waiter->serve = serve;
    s->waiter->serve_arg = s;
    s->waiter->free_running = !has_replicas(s);
    s->waiter->alone_since_ns = s->config.variant == VARIANT_param_server_async ? clock_ns() : 0;
    p->ready = true;
    return OK;
}

static enum status check_norms(const struct sync *s, const struct optimizer *o, struct error *e)
{
    const struct param_server *p = s->context;
    bool of_sums = o->clip_norm > 0 && s->config.variant != VARIANT_param_server_async;
    if (p->servers == 1 || (!of_sums && !optimizer_takes_tensors(o->kind)))
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "%s needs norms of the whole gradient, but sync.servers = %d splits the gradient. "
        "Use sync.servers: 1",
        of_sums ? "train.clip_norm" : optimizer_names()[o->kind], p->servers);
}

static enum status param_server_params_needed(struct sync *s, struct range range, enum pass pass,
                                              struct error *e)
{
    serve_between(s);
    return OK;
}

static enum status param_server_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                         double lr, struct error *e)
{
    struct param_server *p = s->context;
    TRY(check_norms(s, o, e));
    if (p->serves)
        server_open(&p->server, o, step);
    p->stepped = true;
    if (s->config.variant == VARIANT_param_server_async)
        sync_clip_alone(s, o);
    TRY(exchange(s, step, lr, e));
    if (p->serves)
        sync_copy(s, s->arenas.params + p->server.begin, p->server.params,
                  p->server.count * sizeof(real));
    return OK;
}

static enum status param_server_eval_begin(struct sync *s, struct error *e)
{
    struct param_server *p = s->context;
    if (has_replicas(s))
        return OK;
    local_copy(s->exec, p->weights, s->arenas.params, s->arenas.n * sizeof *p->weights);
    return gather_model(s, e);
}

static enum status param_server_eval_end(struct sync *s, struct error *e)
{
    const struct param_server *p = s->context;
    if (!has_replicas(s))
        local_copy(s->exec, s->arenas.params, p->weights, s->arenas.n * sizeof *p->weights);
    return OK;
}

static enum status param_server_save(struct sync *s, const void **data, size_t *bytes,
                                     struct error *e)
{
    if (!has_replicas(s))
        TRY(gather_model(s, e));
    return gather_state(s, e);
}

static enum status param_server_restore(struct sync *s, const void *data, size_t bytes,
                                        struct error *e)
{
    struct param_server *p = s->context;
    TRY(sync_keeps_nothing(s, bytes, e));
    p->stepped = false;
    if (p->serves)
        server_reset(&p->server);
    return OK;
}

/* Destroys the server after a barrier, which ensures that all ranks have received their last
 * answer. */
static void param_server_destroy(struct sync *s)
{
    struct param_server *p = s->context;
    struct error e;
    if (p->ready)
        wait_barrier(s->waiter, s->comm, "end of a parameter server", &e);
    s->waiter->serve = NULL;
    s->waiter->free_running = false;
    s->waiter->alone_since_ns = 0;
    if (p->serves && p->server.s != NULL)
        server_destroy(&p->server);
    if (p->replies != MPI_COMM_NULL)
        MPI_Comm_free(&p->replies);
}

const struct strategy strategy_param_server = {
    .context_bytes = sizeof(struct param_server),
    .create = param_server_create,
    .params_needed = param_server_params_needed,
    .poll = param_server_poll,
    .step_end = param_server_step_end,
    .eval_begin = param_server_eval_begin,
    .eval_end = param_server_eval_end,
    .save = param_server_save,
    .restore = param_server_restore,
    .destroy = param_server_destroy,
};
