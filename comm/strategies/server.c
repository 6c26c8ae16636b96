#include "comm/strategies/server.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "comm/local_ops.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

void server_range(const struct sync *s, int server, int servers, size_t *begin, size_t *count)
{
    size_t end;
    pool_share(s->arenas.n, (size_t)server, (size_t)servers, begin, &end);
    *count = end - *begin;
}

/* Work on this rank's own memory in the midst of what is taken as communication. */
static void charge(const struct server *h, int64_t *kind_ns, int64_t begin_ns)
{
    int64_t spent_ns = h->untimed ? 0 : clock_ns() - begin_ns;
    *kind_ns += spent_ns;
    h->s->times.comm_exposed_ns -= spent_ns;
}

/* ---- Steps ---- */

static void run_optimizer(struct server *h, const real *grads, uint64_t step, double lr)
{
    int64_t begin_ns = clock_ns(), none_ns = 0;
    sync_before_update(h->s);
    charge(h, &none_ns, begin_ns);
    begin_ns = clock_ns();
    optimizer_step(&h->o, h->pool, h->params, grads, 0, h->count, step, lr);
    charge(h, &h->s->times.optimizer_ns, begin_ns);
    h->version++;
}

/* One server has the whole gradient, and its norm. */
static void clip(const struct server *h, real *sum)
{
    if (h->o.clip_norm == 0)
        return;
    int64_t begin_ns = clock_ns();
    double norm = sqrt(local_norm2(h->s->exec, sum, h->count));
    if (norm > h->o.clip_norm)
        local_scale(h->s->exec, sum, h->count, (real)(h->o.clip_norm / norm));
    charge(h, &h->s->times.optimizer_ns, begin_ns);
}

static real *sum_of(const struct server *h, uint64_t clock)
{
    return h->sums + clock % (h->staleness + 1) * h->count;
}

static struct clock *clock_of(const struct server *h, uint64_t clock)
{
    return &h->clocks[clock % (h->staleness + 1)];
}

static void sum_in_order(const struct server *h)
{
    int64_t begin_ns = clock_ns();
    for (int r = 0; r < h->s->ranks; r++)
        h->terms[r] = h->clients[r].pushed;
    local_sum(h->s->exec, h->sums, h->terms, h->s->ranks, 0, h->count);
    charge(h, &h->s->times.pack_ns, begin_ns);
}

/* Steps on the oldest sums as long as they are complete. */
static void step_on_sums(struct server *h)
{
    struct clock *c = clock_of(h, h->version + 1);
    while (c->arrived == h->s->ranks) {
        real *sum = sum_of(h, h->version + 1);
        if (h->in_order)
            sum_in_order(h);
        clip(h, sum);
        c->arrived = 0;
        run_optimizer(h, sum, c->step, c->lr);
        c = clock_of(h, h->version + 1);
    }
}

/* The first of a step is copied, the others are added to it. */
static void add_to_sum(struct server *h, struct client *client, const real *gradient)
{
    struct clock *c = clock_of(h, client->pushes);
    real *sum = sum_of(h, client->pushes);
    int64_t begin_ns = clock_ns();
    if (!h->in_order && c->arrived == 0)
        local_copy(h->s->exec, sum, gradient, h->count * sizeof *sum);
    else if (!h->in_order)
        local_add(h->s->exec, sum, gradient, h->count);
    charge(h, &h->s->times.pack_ns, begin_ns);
    c->arrived++;
}

static void take_in(struct server *h, struct client *client)
{
    client->arrived = false;
    client->pushes++;
    if (h->at_once) {
        run_optimizer(h, client->pushed, h->base + h->version + 1, h->lr);
    } else {
        add_to_sum(h, client, client->pushed);
        step_on_sums(h);
    }
}

/* ---- Messages ---- */

static int receive_push(struct server *h, struct client *client, int rank)
{
    client->push =
        (struct message){.data = client->pushed, .bytes = h->count * sizeof(real), .rank = rank};
    return message_begin_receive(h->s->waiter, &client->push, 1, h->s->comm, SERVER_PUSH);
}

/* In order, the weights stay as they are until everyone, who first must have them, has pushed
 * again; else they may change while they are sent. */
static int answer(struct server *h, struct client *client, int rank)
{
    real *weights = h->params;
    int64_t begin_ns = clock_ns();
    if (!h->in_order) {
        local_copy(h->s->exec, client->answer, weights, h->count * sizeof *weights);
        weights = client->answer;
    }
    charge(h, &h->s->times.pack_ns, begin_ns);
    client->answers = client->pushes;
    int code = receive_push(h, client, rank);
    client->reply =
        (struct message){.data = weights, .bytes = h->count * sizeof(real), .rank = rank};
    if (code == MPI_SUCCESS)
        code = message_begin_send(h->s->waiter, &client->reply, 1, h->replies, SERVER_ANSWER);
    return code;
}

static bool may_go_on(const struct server *h, const struct client *client)
{
    return h->at_once || h->version + h->staleness >= client->pushes;
}

static int serve_push(struct server *h, struct client *client)
{
    int code = MPI_SUCCESS;
    if (!client->arrived && client->pushes == client->answers)
        code = message_test(h->s->waiter, &client->push, &client->arrived);
    if (client->arrived && h->opened)
        take_in(h, client);
    return code;
}

static int serve_reply(struct server *h, struct client *client, int rank)
{
    bool sent;
    int code = message_test(h->s->waiter, &client->reply, &sent);
    if (code == MPI_SUCCESS && sent && client->pushes > client->answers && may_go_on(h, client))
        code = answer(h, client, rank);
    return code;
}

int server_serve(struct server *h)
{
    int code = MPI_SUCCESS;
    for (int r = 0; r < h->s->ranks && code == MPI_SUCCESS; r++)
        if (r != h->s->rank)
            code = serve_push(h, &h->clients[r]);
    for (int r = 0; r < h->s->ranks && code == MPI_SUCCESS; r++)
        if (r != h->s->rank)
            code = serve_reply(h, &h->clients[r], r);
    return code;
}

void server_push(struct server *h, uint64_t step, double lr)
{
    struct client *own = &h->clients[h->s->rank];
    own->pushed = h->s->arenas.grads + h->begin;
    h->lr = lr;
    struct clock *c = clock_of(h, own->pushes + 1);
    c->step = step;
    c->lr = lr;
    take_in(h, own);
}

/* In order, this rank's step has lasted until everyone's has been answered; who pushes the next one
 * meanwhile has had the answer. */
bool server_is_answered(const struct server *h)
{
    const struct client *own = &h->clients[h->s->rank];
    bool answered = may_go_on(h, own);
    for (int r = 0; r < h->s->ranks && h->in_order; r++) {
        const struct client *client = &h->clients[r];
        bool sent = client->reply.request == MPI_REQUEST_NULL || client->pushes > own->pushes;
        if (r != h->s->rank)
            answered = answered && client->answers >= own->pushes && sent;
    }
    return answered;
}

/* ---- Life ---- */

static enum status alloc_clients(struct server *h, struct error *e)
{
    size_t ranks = (size_t)h->s->ranks;
    bool good = true;
    h->clients = calloc(ranks, sizeof *h->clients);
    h->terms = calloc(ranks, sizeof *h->terms);
    if (h->clients == NULL || h->terms == NULL)
        return error_set(e, ERR_MEMORY, "no memory for %zu clients", ranks);
    for (size_t r = 0; r < ranks; r++) {
        struct client *client = &h->clients[r];
        client->push.request = client->reply.request = MPI_REQUEST_NULL;
        if ((int)r == h->s->rank)
            continue;
        client->pushed = mem_alloc(h->count * sizeof *client->pushed);
        client->answer = mem_alloc(h->in_order ? 0 : h->count * sizeof *client->answer);
        good = good && client->pushed != NULL && client->answer != NULL;
    }
    return good ? OK
                : error_set(e, ERR_MEMORY, "no memory for what %zu ranks push, %zu numbers each",
                            ranks, h->count);
}

static enum status alloc_numbers(struct server *h, struct error *e)
{
    size_t clocks = h->staleness + 1, slots = (size_t)h->s->arenas.slots;
    h->clocks = calloc(clocks, sizeof *h->clocks);
    h->sums = h->at_once ? mem_alloc(0) : mem_alloc(clocks * h->count * sizeof *h->sums);
    h->params = mem_alloc(h->count * sizeof *h->params);
    h->state = mem_alloc(slots * h->count * sizeof *h->state);
    if (h->clocks != NULL && h->sums != NULL && h->params != NULL && h->state != NULL)
        return OK;
    return error_set(e, ERR_MEMORY,
                     "no memory for a server's %zu parameters and the sums of %zu steps", h->count,
                     clocks);
}

enum status server_create(struct server *h, struct sync *s, MPI_Comm replies, int servers,
                          struct error *e)
{
    bool at_once = s->config.variant == VARIANT_param_server_async;
    bool stale = s->config.variant == VARIANT_param_server_stale;
    *h = (struct server){.s = s,
                         .replies = replies,
                         .at_once = at_once,
                         .in_order = !at_once && !stale,
                         .staleness = stale ? (uint64_t)s->config.options[SYNC_staleness] : 0};
    server_range(s, s->rank, servers, &h->begin, &h->count);
    enum status status = alloc_clients(h, e);
    if (status == OK)
        status = alloc_numbers(h, e);
    for (int r = 0; r < s->ranks && status == OK; r++)
        if (r != s->rank && receive_push(h, &h->clients[r], r) != MPI_SUCCESS)
            status = error_set(e, ERR_MPI, "cannot receive what rank %d pushes", r);
    return status;
}

void server_destroy(struct server *h)
{
    for (int r = 0; h->clients != NULL && r < h->s->ranks; r++) {
        if (r == h->s->rank)
            continue;
        struct error e;
        message_cancel(h->s->waiter, &h->clients[r].push);
        message_wait(h->s->waiter, &h->clients[r].reply, "last answer of a parameter server", &e);
        mem_free(h->clients[r].pushed);
        mem_free(h->clients[r].answer);
    }
    free(h->clients);
    free(h->terms);
    free(h->clocks);
    mem_free(h->sums);
    mem_free(h->params);
    mem_free(h->state);
}

void server_reset(struct server *h)
{
    h->opened = false;
}

/* Every rank counts its pushes from here. */
void server_open(struct server *h, const struct optimizer *o, uint64_t step)
{
    const struct arenas *a = &h->s->arenas;
    if (h->opened)
        return;
    h->o = *o;
    h->o.n = h->count;
    h->o.state = h->state;
    local_copy(h->s->exec, h->params, a->params + h->begin, h->count * sizeof *h->params);
    for (size_t k = 0; k < (size_t)a->slots; k++)
        local_copy(h->s->exec, h->state + k * h->count, a->state + k * a->n + h->begin,
                   h->count * sizeof *h->state);
    for (int r = 0; r < h->s->ranks; r++)
        h->clients[r].pushes = h->clients[r].answers = 0;
    for (uint64_t k = 0; k <= h->staleness; k++)
        h->clocks[k] = (struct clock){.arrived = 0};
    h->version = 0;
    h->base = (step - 1) * (uint64_t)h->s->ranks;
    h->opened = true;
}
