/* reduce_bcast: sums gradients at rank 0 and broadcasts the sum; every rank runs the optimizer on
 * the sum.
 *
 * Variant plain: MPI_Reduce and MPI_Bcast of the flat arena. Variant pickled: as mpi4py's
 * lower-case reduce and bcast with a list of arrays. A rank serialises its tensors and sends first
 * the length, then the bytes, to its parent in a binomial tree. Rank 0 serialises the sum and
 * broadcasts length and bytes. Unlike variant plain, variant pickled copies all numbers into and
 * out of each pickle. */
#include <inttypes.h>

#include "comm/strategy.h"

#define REDUCE "reduce of the gradients to rank 0"
#define BCAST  "broadcast of the summed gradients"

struct buffers {
    unsigned char *bytes; /* [size] serialised gradients of all tensors, from one rank or summed
                             over several ranks */
    size_t size;
    real *received; /* [arenas.n] gradients of a child in the tree */
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
    THEN(status, wait_bcast(s->waiter, a->grads, a->n, MPI_REAL_TYPE, 0, s->comm, BCAST, e));
    sync_comm_end(s);
    return status;
}

/* ---- Pickled ---- */

/* Returns the size of the serialised gradients (bytes): for each tensor, a header and its numbers.
 * Python's pickle copies the same numbers, but has longer headers. */
static size_t pickle_size(const struct sync *s)
{
    return pickle_bytes(s->counts, (size_t)s->arenas.n_tensors, sizeof(real));
}

static void pickle_dump(struct sync *s, unsigned char *bytes)
{
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *tensor = &s->arenas.tensors[i];
        struct pickle_header header = {(uint64_t)i, tensor->count};
        sync_copy(s, bytes, &header, sizeof header);
        bytes += sizeof header;
        sync_copy(s, bytes, s->arenas.grads + tensor->offset, tensor->count * sizeof(real));
        bytes += tensor->count * sizeof(real);
    }
}

static enum status check_header(const struct pickle_header *header, int i,
                                const struct tensor_desc *tensor, struct error *e)
{
    if (header->tensor == (uint64_t)i && header->count == tensor->count)
        return OK;
    return error_set(e, ERR_MPI,
                     "pickled gradient: expected tensor %d (%s) of %zu numbers, found tensor "
                     "%" PRIu64 " of %" PRIu64,
                     i, tensor->name, tensor->count, header->tensor, header->count);
}

/* Deserialises bytes [size] into grads [arenas.n]. Returns ERR_MPI if the bytes are not a gradient
 * of this network. */
static enum status pickle_load(struct sync *s, const unsigned char *bytes, size_t size, real *grads,
                               struct error *e)
{
    if (size != pickle_size(s))
        return error_set(e, ERR_MPI, "pickled gradient: expected %zu bytes, found %zu",
                         pickle_size(s), size);
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *tensor = &s->arenas.tensors[i];
        struct pickle_header header;
        sync_copy(s, &header, bytes, sizeof header);
        TRY(check_header(&header, i, tensor, e));
        bytes += sizeof header;
        sync_copy(s, grads + tensor->offset, bytes, tensor->count * sizeof(real));
        bytes += tensor->count * sizeof(real);
    }
    return OK;
}

typedef enum status exchange(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                             const char *operation, struct error *e);

/* Sends a pickle to `rank` (`pass` is wait_send) or receives one from `rank` (wait_receive): first
 * its length, then its bytes. n: number of pickles, 1 or 0. A rank without a pickle also calls this
 * function, because all ranks must make equally many waits. */
static enum status exchange_pickle(struct sync *s, exchange *pass, int rank, int n, struct error *e)
{
    struct buffers *b = s->context;
    uint64_t length = b->size;
    struct message head = {.data = &length, .bytes = sizeof length, .rank = rank};
    struct message body = {.data = b->bytes, .bytes = b->size, .rank = rank};
    sync_comm_begin(s);
    enum status status = pass(s->waiter, &head, n, s->comm, REDUCE, e);
    if (status == OK && length != b->size)
        status = error_set(e, ERR_MPI, REDUCE ": expected %zu bytes from rank %d, found %llu",
                           b->size, rank, (unsigned long long)length);
    THEN(status, pass(s->waiter, &body, n, s->comm, REDUCE, e));
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
    const struct buffers *b = s->context;
    TRY(exchange_pickle(s, wait_receive, child, 1, e));
    TRY(pickle_load(s, b->bytes, b->size, b->received, e));
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        sync_add(s, s->arenas.grads + t->offset, b->received + t->offset, t->count);
    }
    return OK;
}

/* Sums gradients up a binomial tree to rank 0. In round k (from 0), ranks whose lowest set bit is
 * bit k send to their parents. */
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
        status = error_set(e, ERR_MPI, BCAST ": expected %zu bytes from rank 0, found %llu",
                           b->size, (unsigned long long)length);
    THEN(status, wait_bcast(s->waiter, b->bytes, b->size, MPI_BYTE, 0, s->comm, BCAST, e));
    sync_comm_end(s);
    return status == OK ? pickle_load(s, b->bytes, b->size, s->arenas.grads, e) : status;
}

static enum status sum_pickled(struct sync *s, struct error *e)
{
    TRY(reduce_pickled(s, e));
    return bcast_pickled(s, e);
}

/* ---- Hooks ---- */

static enum status reduce_bcast_sum(struct sync *s, struct error *e)
{
    return is_pickled(s) ? sum_pickled(s, e) : sum_plain(s, e);
}

static enum status alloc_buffers(struct sync *s, struct error *e)
{
    struct buffers *b = s->context;
    b->size = pickle_size(s);
    TRY(MEM_KEEP(&s->memory, b->bytes, b->size, "a pickled gradient", e));
    return MEM_KEEP(&s->memory, b->received, s->arenas.n, "a child's gradients", e);
}

static enum status reduce_bcast_create(struct sync *s, struct error *e)
{
    TRY(arenas_alloc(&s->arenas, e));
    if (is_pickled(s))
        TRY(alloc_buffers(s, e));
    for (int i = 0; i < SYNC_WARM_CALLS; i++)
        TRY(reduce_bcast_sum(s, e));
    return OK;
}

const struct strategy strategy_reduce_bcast = {
    .context_bytes = sizeof(struct buffers),
    .create = reduce_bcast_create,
    .sum_gradients = reduce_bcast_sum,
};
