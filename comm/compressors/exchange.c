/* Exchanges direct messages among all ranks, for compressors. Forwarding would need fewer messages,
 * but not fewer bytes. */
#include "comm/compress.h"
#include "kernels/base/pool.h"

enum status exchanger_open(struct exchanger *x, struct sync *s, struct error *e)
{
    size_t ranks = (size_t)s->ranks;
    TRY(MEM_KEEP(&s->memory, x->sends, ranks, "messages to all ranks", e));
    return MEM_KEEP(&s->memory, x->receives, ranks, "messages of all ranks", e);
}

size_t shares_begin(const struct shares *v, int rank, int ranks)
{
    size_t begin, end;
    pool_share(v->n, (size_t)rank, (size_t)ranks, &begin, &end);
    return begin;
}

size_t shares_count(const struct shares *v, int rank, int ranks)
{
    size_t begin, end;
    pool_share(v->n, (size_t)rank, (size_t)ranks, &begin, &end);
    return end - begin;
}

static struct message share_of(const struct sync *s, const struct shares *v, int owner, int peer)
{
    char *data = v->data;
    return (struct message){.data = data + shares_begin(v, owner, s->ranks) * v->width,
                            .bytes = shares_count(v, owner, s->ranks) * v->width,
                            .rank = peer,
                            .request = MPI_REQUEST_NULL};
}

/* Appends `message` to `list` unless `message` has 0 bytes. The peer computes the same size, so
 * sender and receiver both skip an empty message. */
static void add_message(struct message *list, int *n, struct message message)
{
    if (message.bytes > 0)
        list[(*n)++] = message;
}

/* Returns the i-th peer of this rank. Each rank begins with a different peer, so that not all send
 * to the same rank first. */
static int peer_at(const struct sync *s, int i)
{
    return (s->rank + i) % s->ranks;
}

static void begin_plan(struct exchanger *x, MPI_Comm comm, const char *operation)
{
    x->code = MPI_SUCCESS;
    x->messages = (struct exchange){
        .sends = x->sends, .receives = x->receives, .comm = comm, .operation = operation};
}

void *exchange_received(const struct sync *s, const struct shares *v, void *received, int rank)
{
    size_t place = (size_t)((rank - s->rank + s->ranks) % s->ranks - 1);
    return (char *)received + place * shares_count(v, s->rank, s->ranks) * v->width;
}

void exchange_plan_scatter(const struct sync *s, struct exchanger *x, const struct shares *v,
                           void *received, MPI_Comm comm, const char *operation)
{
    begin_plan(x, comm, operation);
    for (int i = 1; i < s->ranks; i++) {
        int peer = peer_at(s, i);
        struct message mine = share_of(s, v, s->rank, peer);
        mine.data = exchange_received(s, v, received, peer);
        add_message(x->sends, &x->messages.n_sends, share_of(s, v, peer, peer));
        add_message(x->receives, &x->messages.n_receives, mine);
    }
}

void exchange_plan_gather(const struct sync *s, struct exchanger *x, const struct shares *v,
                          MPI_Comm comm, const char *operation)
{
    begin_plan(x, comm, operation);
    for (int i = 1; i < s->ranks; i++) {
        int peer = peer_at(s, i);
        add_message(x->sends, &x->messages.n_sends, share_of(s, v, s->rank, peer));
        add_message(x->receives, &x->messages.n_receives, share_of(s, v, peer, peer));
    }
}

enum status exchanger_begin(struct sync *s, struct exchanger *x, struct error *e)
{
    x->active = true;
    sync_call_begin(s);
    enum status status = message_begin_exchange(s->waiter, &x->messages, e);
    sync_call_end(s);
    return status;
}

bool exchanger_test(const struct sync *s, struct exchanger *x)
{
    bool done = false;
    if (x->code == MPI_SUCCESS)
        x->code = message_test_exchange(s->waiter, &x->messages, &done);
    return done;
}

enum status exchanger_wait(const struct sync *s, struct exchanger *x, struct error *e)
{
    if (!x->active)
        return OK;
    x->active = false;
    return wait_begun_exchange(s->waiter, &x->messages, x->code, e);
}

enum status exchange_gather(struct sync *s, struct exchanger *x, const struct shares *v,
                            const char *operation, struct error *e)
{
    exchange_plan_gather(s, x, v, s->comm, operation);
    return sync_exchange(s, &x->messages, e);
}
