/* Gradients are summed at rank 0 and broadcast; every rank runs the optimizer on the sum.
 *
 * Plain: MPI_Reduce and MPI_Bcast of the flat arena. Pickled: what mpi4py's lower-case reduce and
 * bcast do with a list of arrays. A rank serialises its tensors and sends length and bytes to its
 * parent in a binomial tree; the parent reads them into arrays of their own and adds those to its
 * own; rank 0 serialises the sum and broadcasts length and bytes, which every rank reads again. */
#include <stdlib.h>

#include "comm/strategies/pickle.h"
#include "comm/strategy.h"
#include "kernels/base/mem.h"

/* MPICH changes the algorithms of both after five calls, as it does with allreduce's. */
#define WARM_CALLS 6

#define REDUCE "reduce of the gradients to rank 0"
#define BCAST  "broadcast of the summed gradients"

struct buffers {
    unsigned char *bytes; /* [pickle_size] */
    size_t size;
    real *received; /* [arenas.n]: a child's gradients */
};

static bool is_pickled(const struct sync *s)
{
    return s->config.variant == VARIANT_reduce_bcast_pickled;
}

/* ---- Plain ---- */

static enum status sum_plain(struct sync *s, struct error *e)
{
    struct arenas *a = &s->arenas;
    sync_comm_begin(s);
    enum status status =
        wait_reduce(s->waiter, a->grads, a->n, MPI_REAL_TYPE, MPI_SUM, 0, s->comm, REDUCE, e);
    if (status == OK)
        status = wait_bcast(s->waiter, a->grads, a->n, MPI_REAL_TYPE, 0, s->comm, BCAST, e);
    sync_comm_end(s);
    return status;
}

/* ---- Pickled ---- */

typedef enum status exchange(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                             const char *operation, struct error *e);

/* The length, then the bytes, to or from `rank`; with n = 0 this rank only keeps step. */
static enum status exchange_pickle(struct sync *s, exchange *pass, int rank, int n, struct error *e)
{
    struct buffers *b = s->context;
    uint64_t length = b->size;
    struct message head = {.data = &length, .bytes = sizeof length, .rank = rank};
    struct message body = {.data = b->bytes, .bytes = b->size, .rank = rank};
    sync_comm_begin(s);
    enum status status = pass(s->waiter, &head, n, s->comm, REDUCE, e);
    if (status == OK && length != b->size)
        status = error_set(e, ERR_MPI, REDUCE ": rank %d sends %llu bytes instead of %zu", rank,
                           (unsigned long long)length, b->size);
    if (status == OK)
        status = pass(s->waiter, &body, n, s->comm, REDUCE, e);
    sync_comm_end(s);
    return status;
}

static enum status send_to_parent(struct sync *s, int parent, struct error *e)
{
    struct buffers *b = s->context;
    pickle_dump(s, b->bytes);
    return exchange_pickle(s, wait_send, parent, 1, e);
}

static enum status add_child(struct sync *s, int child, struct error *e)
{
    struct buffers *b = s->context;
    enum status status = exchange_pickle(s, wait_receive, child, 1, e);
    if (status == OK)
        status = pickle_load(s, b->bytes, b->size, b->received, e);
    for (int i = 0; i < s->arenas.n_tensors && status == OK; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        sync_add(s, s->arenas.grads + t->offset, b->received + t->offset, t->count);
    }
    return status;
}

/* A rank sends in the round of its lowest bit, once all below it have sent to it. */
static enum status reduce_pickled(struct sync *s, struct error *e)
{
    enum status status = OK;
    bool sent = false;
    for (int mask = 1; mask < s->ranks && status == OK; mask *= 2) {
        if (!sent && (s->rank & mask) != 0) {
            status = send_to_parent(s, s->rank - mask, e);
            sent = true;
        } else if (!sent && s->rank + mask < s->ranks) {
            status = add_child(s, s->rank + mask, e);
        } else {
            status = exchange_pickle(s, wait_receive, 0, 0, e);
        }
    }
    return status;
}

static enum status bcast_pickled(struct sync *s, struct error *e)
{
    struct buffers *b = s->context;
    uint64_t length = b->size;
    if (s->rank == 0)
        pickle_dump(s, b->bytes);
    sync_comm_begin(s);
    enum status status =
        wait_bcast(s->waiter, &length, sizeof length, MPI_BYTE, 0, s->comm, BCAST, e);
    if (status == OK && length != b->size)
        status = error_set(e, ERR_MPI, BCAST ": rank 0 sends %llu bytes instead of %zu",
                           (unsigned long long)length, b->size);
    if (status == OK)
        status = wait_bcast(s->waiter, b->bytes, b->size, MPI_BYTE, 0, s->comm, BCAST, e);
    sync_comm_end(s);
    return status == OK ? pickle_load(s, b->bytes, b->size, s->arenas.grads, e) : status;
}

static enum status sum_pickled(struct sync *s, struct error *e)
{
    enum status status = reduce_pickled(s, e);
    return status == OK ? bcast_pickled(s, e) : status;
}

/* ---- Hooks ---- */

static enum status sum_gradients(struct sync *s, struct error *e)
{
    return is_pickled(s) ? sum_pickled(s, e) : sum_plain(s, e);
}

static enum status alloc_buffers(struct sync *s, struct error *e)
{
    struct buffers *b = s->context = calloc(1, sizeof *b);
    if (b != NULL) {
        b->size = pickle_size(s);
        b->bytes = mem_alloc(b->size);
        b->received = mem_alloc(s->arenas.n * sizeof *b->received);
    }
    if (b == NULL || b->bytes == NULL || b->received == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a pickled gradient of %zu numbers",
                         s->arenas.n);
    return OK;
}

static enum status reduce_bcast_create(struct sync *s, struct error *e)
{
    enum status status = arenas_alloc(&s->arenas, e);
    if (status == OK && is_pickled(s))
        status = alloc_buffers(s, e);
    for (int i = 0; status == OK && i < WARM_CALLS; i++)
        status = sum_gradients(s, e);
    return status;
}

static enum status reduce_bcast_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                         double lr, struct error *e)
{
    enum status status = sum_gradients(s, e);
    return status == OK ? sync_update(s, o, step, lr, e) : status;
}

static void reduce_bcast_destroy(struct sync *s)
{
    struct buffers *b = s->context;
    if (b != NULL) {
        mem_free(b->bytes);
        mem_free(b->received);
        free(b);
    }
    arenas_free(&s->arenas);
}

const struct strategy strategy_reduce_bcast = {
    .create = reduce_bcast_create,
    .step_end = reduce_bcast_step_end,
    .destroy = reduce_bcast_destroy,
};
