#include "comm/strategies/server.h"

#include <math.h>

#include "comm/local_ops.h"
#include "kernels/base/clock.h"
#include "kernels/base/pool.h"

void server_range(const struct sync *s, int index, int servers, size_t *begin, size_t *count)
{
    size_t end;
    pool_share(s->arenas.n, (size_t)index, (size_t)servers, begin, &end);
    *count = end - *begin;
}

/* Moves the time since begin_ns from exposed communication to `phase`. If `phase` is PHASES, only
 * subtracts the time from communication. Does nothing if v->untimed. */
static void charge(const struct server *v, enum phase phase, int64_t begin_ns)
{
    struct sync_times *times = &v->s->times;
    int64_t now_ns = clock_ns(), none_ns = 0;
    if (v->untimed)
        return;
    *(phase == PHASE_optimizer ? &times->optimizer_ns
      : phase == PHASE_pack    ? &times->pack_ns
                               : &none_ns) += now_ns - begin_ns;
    times->comm_exposed_ns -= now_ns - begin_ns;
    if (phase != PHASES)
        timeline_add(v->s->waiter->timeline, phase, "parameter server", begin_ns, now_ns);
}

/* ---- Steps ---- */

static void run_optimizer(struct server *v, const real *grads, uint64_t step, double lr)
{
    int64_t begin_ns = clock_ns();
    sync_before_update(v->s);
    charge(v, PHASES, begin_ns);
    begin_ns = clock_ns();
    optimizer_step(&v->o, v->pool, v->params, grads, 0, v->count, step, lr);
    charge(v, PHASE_optimizer, begin_ns);
    v->version++;
}

/* Clips a sum by value and by norm. Clipping by norm requires a single server, so the sum is the
 * whole gradient. */
static void clip(const struct server *v, real *sum)
{
    if (v->o.clip_norm == 0 && v->o.clip_value == 0)
        return;
    int64_t begin_ns = clock_ns();
    if (v->o.clip_value > 0)
        local_clamp(v->s->exec, sum, v->count, (real)v->o.clip_value);
    double norm = v->o.clip_norm > 0 ? sqrt(local_norm2(v->s->exec, sum, v->count)) : 0;
    if (norm > v->o.clip_norm)
        local_scale(v->s->exec, sum, v->count, (real)(v->o.clip_norm / norm));
    charge(v, PHASE_optimizer, begin_ns);
}

/* Scales and clips the sum, as sync_finish_sum does for other strategies. */
static void finish_sum(const struct server *v, real *sum)
{
    if (v->s->config.scale == GRADIENT_SCALE_post) {
        int64_t begin_ns = clock_ns();
        local_scale(v->s->exec, sum, v->count, (real)(1.0 / v->s->ranks));
        charge(v, PHASE_pack, begin_ns);
    }
    clip(v, sum);
}

static real *sum_of(const struct server *v, uint64_t step)
{
    return v->sums + step % (v->staleness + 1) * v->count;
}

static struct open_step *step_of(const struct server *v, uint64_t step)
{
    return &v->steps[step % (v->staleness + 1)];
}

static void sum_in_order(const struct server *v)
{
    int64_t begin_ns = clock_ns();
    for (int r = 0; r < v->s->ranks; r++)
        v->terms[r] = v->clients[r].pushed;
    local_sum(v->s->exec, v->sums, v->terms, v->s->ranks, 0, v->count);
    charge(v, PHASE_pack, begin_ns);
}

/* Runs the optimizer on each complete sum, oldest step first, up to the first incomplete sum. */
static void step_on_sums(struct server *v)
{
    struct open_step *o = step_of(v, v->version + 1);
    while (o->arrived == v->s->ranks) {
        real *sum = sum_of(v, v->version + 1);
        if (v->in_order)
            sum_in_order(v);
        finish_sum(v, sum);
        o->arrived = 0;
        run_optimizer(v, sum, o->step, o->lr);
        o = step_of(v, v->version + 1);
    }
}

/* Adds a client's gradient to the sum of its step. In variant sync (in_order), only counts the
 * gradient, which sum_in_order adds later. */
static void add_to_sum(struct server *v, struct client *client, const real *gradient)
{
    struct open_step *o = step_of(v, client->pushes);
    real *sum = sum_of(v, client->pushes);
    int64_t begin_ns = clock_ns();
    if (!v->in_order && o->arrived == 0)
        local_copy(v->s->exec, sum, gradient, v->count * sizeof *sum);
    else if (!v->in_order)
        local_add(v->s->exec, sum, gradient, v->count);
    charge(v, PHASE_pack, begin_ns);
    o->arrived++;
}

static void take_in(struct server *v, struct client *client)
{
    client->arrived = false;
    client->pushes++;
    if (v->at_once) {
        run_optimizer(v, client->pushed, v->base + v->version + 1, v->lr);
    } else {
        add_to_sum(v, client, client->pushed);
        step_on_sums(v);
    }
}

/* ---- Messages ---- */

static int receive_push(struct server *v, struct client *client, int rank)
{
    client->push =
        (struct message){.data = client->pushed, .bytes = v->count * sizeof(real), .rank = rank};
    return message_begin_receive(v->s->waiter, &client->push, 1, v->s->comm, SERVER_PUSH);
}

/* Begins to send weights to a client and to receive its next gradient. Variant sync (in_order)
 * copies no weights, since they change only after all ranks have received them and pushed again. */
static int answer(struct server *v, struct client *client, int rank)
{
    real *weights = v->params;
    int64_t begin_ns = clock_ns();
    if (!v->in_order) {
        local_copy(v->s->exec, client->answer, weights, v->count * sizeof *weights);
        weights = client->answer;
    }
    charge(v, PHASE_pack, begin_ns);
    client->answers = client->pushes;
    int code = receive_push(v, client, rank);
    client->reply =
        (struct message){.data = weights, .bytes = v->count * sizeof(real), .rank = rank};
    if (code == MPI_SUCCESS)
        code = message_begin_send(v->s->waiter, &client->reply, 1, v->replies, SERVER_ANSWER);
    return code;
}

static bool may_go_on(const struct server *v, const struct client *client)
{
    return v->at_once || v->version + v->staleness >= client->pushes;
}

static int serve_push(struct server *v, struct client *client)
{
    int code = MPI_SUCCESS;
    if (!client->arrived && client->pushes == client->answers)
        code = message_test(v->s->waiter, &client->push, &client->arrived);
    if (client->arrived && v->opened)
        take_in(v, client);
    return code;
}

static int serve_reply(struct server *v, struct client *client, int rank)
{
    bool sent;
    int code = message_test(v->s->waiter, &client->reply, &sent);
    if (code == MPI_SUCCESS && sent && client->pushes > client->answers && may_go_on(v, client))
        code = answer(v, client, rank);
    return code;
}

int server_serve(struct server *v)
{
    int code = MPI_SUCCESS;
    for (int r = 0; r < v->s->ranks && code == MPI_SUCCESS; r++)
        if (r != v->s->rank)
            code = serve_push(v, &v->clients[r]);
    for (int r = 0; r < v->s->ranks && code == MPI_SUCCESS; r++)
        if (r != v->s->rank)
            code = serve_reply(v, &v->clients[r], r);
    return code;
}

void server_push(struct server *v, uint64_t step, double lr)
{
    struct client *own = &v->clients[v->s->rank];
    own->pushed = v->s->arenas.grads + v->begin;
    v->lr = lr;
    struct open_step *o = step_of(v, own->pushes + 1);
    o->step = step;
    o->lr = lr;
    take_in(v, own);
}

/* Returns whether this rank's push is answered. In variant sync, the answers to all clients must
 * also be sent. The answer to a client that has already pushed its next gradient counts as sent. */
bool server_is_answered(const struct server *v)
{
    const struct client *own = &v->clients[v->s->rank];
    bool answered = may_go_on(v, own);
    for (int r = 0; r < v->s->ranks && v->in_order; r++) {
        const struct client *client = &v->clients[r];
        bool sent = client->reply.request == MPI_REQUEST_NULL || client->pushes > own->pushes;
        if (r != v->s->rank)
            answered = answered && client->answers >= own->pushes && sent;
    }
    return answered;
}

/* ---- Life ---- */

static enum status alloc_clients(struct server *v, struct error *e)
{
    size_t ranks = (size_t)v->s->ranks;
    TRY(MEM_KEEP(&v->s->memory, v->clients, ranks, "clients of a parameter server", e));
    TRY(MEM_KEEP(&v->s->memory, v->terms, ranks, "the terms of a sum", e));
    for (size_t r = 0; r < ranks; r++)
        v->clients[r].push.request = v->clients[r].reply.request = MPI_REQUEST_NULL;
    for (size_t r = 0; r < ranks; r++) {
        struct client *client = &v->clients[r];
        if ((int)r == v->s->rank)
            continue;
        TRY(MEM_KEEP(&v->s->memory, client->pushed, v->count, "a pushed gradient", e));
        TRY(MEM_KEEP(&v->s->memory, client->answer, v->in_order ? 0 : v->count, "an answer", e));
    }
    return OK;
}

static enum status alloc_numbers(struct server *v, struct error *e)
{
    size_t steps = v->staleness + 1, slots = (size_t)v->s->arenas.slots;
    TRY(MEM_KEEP(&v->s->memory, v->steps, steps, "open steps of a parameter server", e));
    TRY(MEM_KEEP(&v->s->memory, v->sums, v->at_once ? 0 : steps * v->count, "a server's sums", e));
    TRY(MEM_KEEP(&v->s->memory, v->params, v->count, "a server's parameters", e));
    return MEM_KEEP(&v->s->memory, v->state, slots * v->count, "a server's optimizer state", e);
}

enum status server_create(struct server *v, struct sync *s, MPI_Comm replies, int servers,
                          struct error *e)
{
    bool at_once = s->config.variant == VARIANT_param_server_async;
    bool stale = s->config.variant == VARIANT_param_server_stale;
    *v = (struct server){.s = s,
                         .replies = replies,
                         .at_once = at_once,
                         .in_order = !at_once && !stale,
                         .staleness = stale ? (uint64_t)s->config.options[SYNC_staleness] : 0};
    server_range(s, s->rank, servers, &v->begin, &v->count);
    TRY(alloc_clients(v, e));
    TRY(alloc_numbers(v, e));
    for (int r = 0; r < s->ranks; r++)
        if (r != s->rank && receive_push(v, &v->clients[r], r) != MPI_SUCCESS)
            return error_set(e, ERR_MPI,
                             "this parameter server cannot receive gradients from rank %d", r);
    return OK;
}

void server_destroy(struct server *v)
{
    for (int r = 0; v->clients != NULL && r < v->s->ranks; r++) {
        if (r == v->s->rank)
            continue;
        struct error e;
        message_cancel(v->s->waiter, &v->clients[r].push);
        message_wait(v->s->waiter, &v->clients[r].reply, "last answer of a parameter server", &e);
    }
}

void server_reset(struct server *v)
{
    v->opened = false;
}

void server_open(struct server *v, const struct optimizer *o, uint64_t step)
{
    const struct arenas *a = &v->s->arenas;
    if (v->opened)
        return;
    v->o = *o;
    v->o.n = v->count;
    v->o.state = v->state;
    local_copy(v->s->exec, v->params, a->params + v->begin, v->count * sizeof *v->params);
    for (size_t k = 0; k < (size_t)a->slots; k++)
        local_copy(v->s->exec, v->state + k * v->count, a->state + k * a->n + v->begin,
                   v->count * sizeof *v->state);
    for (int r = 0; r < v->s->ranks; r++)
        v->clients[r].pushes = v->clients[r].answers = 0;
    for (uint64_t k = 0; k <= v->staleness; k++)
        v->steps[k] = (struct open_step){.arrived = 0};
    v->version = 0;
    v->base = (step - 1) * (uint64_t)v->s->ranks;
    v->opened = true;
}
