/* gather_scatter: for each tensor, rank 0 gathers the gradients of all ranks, adds them in the
 * order of ranks and sends the whole sum to every rank. Every rank runs the optimizer.
 *
 * Costs p - 1 copies of each tensor through rank 0 in each direction, where p is the number of
 * ranks. Every other rank makes one call per tensor and direction.
 *
 * Variant linear: rank 0 exchanges one message with every other rank in each direction. Variant
 * mpich: MPI_Gather, then MPI_Scatter of p copies of the sum. */
#include "comm/strategy.h"

#define GATHER  "gather of the gradients at rank 0"
#define SCATTER "scatter of the summed gradients"

struct buffers {
    real *slots;              /* on rank 0: [ranks][largest tensor] gradients of all ranks */
    struct message *messages; /* [ranks] messages between rank 0 and the other ranks */
};

struct piece {
    real *grads;
    size_t count, bytes;
};

static real *slot(const struct sync *s, const struct piece *p, int rank)
{
    const struct buffers *b = s->context;
    return b->slots + (size_t)rank * p->count;
}

/* ---- Linear ---- */

typedef enum status pass(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e);

/* Exchanges a piece between rank 0 and all other ranks. Rank 0 calls `at_root`: wait_receive
 * gathers gradients in its slots, wait_send scatters the sum. Other ranks call `elsewhere`. */
static enum status pass_linear(struct sync *s, const struct piece *p, pass *at_root,
                               pass *elsewhere, const char *operation, struct error *e)
{
    struct buffers *b = s->context;
    struct message *m = b->messages;
    for (int r = 1; r < s->ranks; r++) {
        real *data = at_root == wait_receive ? slot(s, p, r) : p->grads;
        m[r - 1] = (struct message){.data = data, .bytes = p->bytes, .rank = r};
    }
    if (s->rank == 0)
        return at_root(s->waiter, m, s->ranks - 1, s->comm, operation, e);
    m[0] = (struct message){.data = p->grads, .bytes = p->bytes, .rank = 0};
    return elsewhere(s->waiter, m, 1, s->comm, operation, e);
}

static enum status gather_linear(struct sync *s, const struct piece *p, struct error *e)
{
    return pass_linear(s, p, wait_receive, wait_send, GATHER, e);
}

static enum status scatter_linear(struct sync *s, const struct piece *p, struct error *e)
{
    return pass_linear(s, p, wait_send, wait_receive, SCATTER, e);
}

/* ---- MPICH ---- */

static enum status gather_mpich(struct sync *s, const struct piece *p, struct error *e)
{
    struct buffers *b = s->context;
    return wait_gather(s->waiter, p->grads, p->bytes, b->slots, 0, s->comm, GATHER, e);
}

static enum status scatter_mpich(struct sync *s, const struct piece *p, struct error *e)
{
    struct buffers *b = s->context;
    return wait_scatter(s->waiter, b->slots, p->bytes, p->grads, 0, s->comm, SCATTER, e);
}

/* Copies the sum to all slots, because MPI_Scatter sends each rank its own slot. */
static void fill_slots(struct sync *s, const struct piece *p)
{
    for (int r = 0; r < s->ranks; r++)
        sync_copy(s, slot(s, p, r), p->grads, p->bytes);
}

/* ---- Hooks ---- */

static enum status sum_piece(struct sync *s, const struct piece *p, struct error *e)
{
    bool linear = s->config.variant == VARIANT_gather_scatter_linear;
    sync_comm_begin(s);
    enum status status = linear ? gather_linear(s, p, e) : gather_mpich(s, p, e);
    sync_comm_end(s);
    TRY(status);
    for (int r = 1; r < s->ranks && s->rank == 0; r++)
        sync_add(s, p->grads, slot(s, p, r), p->count);
    if (!linear && s->rank == 0)
        fill_slots(s, p);
    sync_comm_begin(s);
    status = linear ? scatter_linear(s, p, e) : scatter_mpich(s, p, e);
    sync_comm_end(s);
    return status;
}

static size_t largest_tensor(const struct sync *s)
{
    size_t largest = 0;
    for (int i = 0; i < s->arenas.n_tensors; i++)
        largest = s->counts[i] > largest ? s->counts[i] : largest;
    return largest;
}

static enum status gather_scatter_create(struct sync *s, struct error *e)
{
    struct buffers *b = s->context;
    size_t ranks = (size_t)s->ranks, slots = s->rank == 0 ? ranks * largest_tensor(s) : 0;
    TRY(arenas_alloc(&s->arenas, e));
    TRY(MEM_KEEP(&s->memory, b->slots, slots, "the gathered gradients of all ranks", e));
    return MEM_KEEP(&s->memory, b->messages, ranks, "messages of all ranks", e);
}

static enum status gather_scatter_sum(struct sync *s, struct error *e)
{
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        const struct piece piece = {.grads = s->arenas.grads + t->offset,
                                    .count = t->count,
                                    .bytes = t->count * sizeof(real)};
        TRY(sum_piece(s, &piece, e));
    }
    return OK;
}

const struct strategy strategy_gather_scatter = {
    .context_bytes = sizeof(struct buffers),
    .create = gather_scatter_create,
    .sum_gradients = gather_scatter_sum,
};
