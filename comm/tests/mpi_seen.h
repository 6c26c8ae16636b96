/* Counts calls, messages and bytes below MPI's interface, as a profiler does. Included once by a
 * test program. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "comm/cost/library.h"
#include "comm/strategy.h"
#include "comm/tests/mpi_test.h"

static struct {
    uint64_t calls, bytes;
    uint64_t messages, sent; /* point to point */
    struct cost collectives; /* messages and bytes of collectives, by the program of each */
} seen;

/* Own messages of this rank in the order of their calls. */
enum { SENDS_MAX = 1 << 16 };
static struct seen_send {
    int rank; /* receiver in MPI_COMM_WORLD */
    size_t bytes;
} seen_sends[SENDS_MAX];
static size_t n_seen_sends;

static inline void forget_seen(void)
{
    memset(&seen, 0, sizeof seen);
    n_seen_sends = 0;
}

static unsigned see_sleep_us; /* delay added to each sum of doubles (us) */

static size_t see(int count, MPI_Datatype type)
{
    int width;
    MPI_Type_size(type, &width);
    seen.calls++;
    seen.bytes += (uint64_t)count * (uint64_t)width;
    return (size_t)width;
}

static int ranks_of(MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

static void see_operation(struct operation op, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    struct counter counter = counter_of(&seen.collectives, rank, ranks_of(comm));
    reader_give(&counter.reader, op);
}

static void see_sum(enum call_kind call, int count, MPI_Datatype type, MPI_Comm comm)
{
    size_t width = see(count, type);
    see_operation(library_allreduce(ALGORITHM_auto, call, ranks_of(comm), (size_t)count, width),
                  comm);
    if (type == MPI_DOUBLE && see_sleep_us > 0)
        usleep(see_sleep_us);
}

static void see_reduce(int count, MPI_Datatype type, MPI_Comm comm)
{
    size_t width = see(count, type);
    see_operation(library_reduce(ranks_of(comm), (size_t)count, width), comm);
}

static void see_bcast(int count, MPI_Datatype type, MPI_Comm comm)
{
    size_t bytes = see(count, type) * (size_t)count;
    see_operation(library_bcast(ranks_of(comm), bytes), comm);
}

/* A gather or scatter of so many numbers of each rank. */
static void see_tree(struct operation (*tree)(size_t bytes), int count, MPI_Datatype type,
                     MPI_Comm comm)
{
    size_t bytes = see(count, type) * (size_t)count;
    see_operation(tree(bytes), comm);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    see_sum(CALL_BLOCKING, count, type, comm);
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    see_reduce(count, type, comm);
    return PMPI_Reduce(send, receive, count, type, op, root, comm);
}

int MPI_Bcast(void *values, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    see_bcast(count, type, comm);
    return PMPI_Bcast(values, count, type, root, comm);
}

int MPI_Gather(const void *send, int count, MPI_Datatype type, void *receive, int received,
               MPI_Datatype received_type, int root, MPI_Comm comm)
{
    see_tree(library_gather, count, type, comm);
    return PMPI_Gather(send, count, type, receive, received, received_type, root, comm);
}

int MPI_Scatter(const void *send, int sent, MPI_Datatype sent_type, void *receive, int count,
                MPI_Datatype type, int root, MPI_Comm comm)
{
    see_tree(library_scatter, count, type, comm);
    return PMPI_Scatter(send, sent, sent_type, receive, count, type, root, comm);
}

int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    see_sum(CALL_NONBLOCKING, count, type, comm);
    return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

int MPI_Ireduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    see_reduce(count, type, comm);
    return PMPI_Ireduce(send, receive, count, type, op, root, comm, request);
}

int MPI_Ibcast(void *values, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    see_bcast(count, type, comm);
    return PMPI_Ibcast(values, count, type, root, comm, request);
}

int MPI_Igather(const void *send, int count, MPI_Datatype type, void *receive, int received,
                MPI_Datatype received_type, int root, MPI_Comm comm, MPI_Request *request)
{
    see_tree(library_gather, count, type, comm);
    return PMPI_Igather(send, count, type, receive, received, received_type, root, comm, request);
}

int MPI_Iscatter(const void *send, int sent, MPI_Datatype sent_type, void *receive, int count,
                 MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    see_tree(library_scatter, count, type, comm);
    return PMPI_Iscatter(send, sent, sent_type, receive, count, type, root, comm, request);
}

static void see_send(int to, size_t bytes, MPI_Comm comm)
{
    MPI_Group own, world;
    struct seen_send send = {.bytes = bytes};
    MPI_Comm_group(comm, &own);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(own, 1, &to, world, &send.rank);
    MPI_Group_free(&own);
    MPI_Group_free(&world);
    if (n_seen_sends < SENDS_MAX)
        seen_sends[n_seen_sends++] = send;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    uint64_t before = seen.bytes;
    see(count, type);
    seen.messages++;
    seen.sent += seen.bytes - before;
    see_send(to, seen.bytes - before, comm);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    see(count, type);
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

/* ---- Messages of the program ---- */

/* Reader that lists a rank's own messages in a program, in order. */
struct program_sends {
    struct reader reader;
    int rank, ranks;
    struct seen_send all[SENDS_MAX];
    size_t n;
};

static void list_sends(struct program_sends *list, const struct schedule *s,
                       const struct transfer *t, size_t width)
{
    size_t messages = schedule_messages(s, t->count), left = t->count;
    for (size_t i = 0; i < messages && list->n < SENDS_MAX; i++) {
        size_t count = s->single || left < s->segment ? left : s->segment;
        list->all[list->n++] = (struct seen_send){t->rank, count * width};
        left -= count;
    }
}

static void list_operation(struct reader *reader, const struct operation *op)
{
    struct program_sends *list = (struct program_sends *)reader;
    if (op->rule == NULL || op->is_call)
        return;
    const struct schedule s = operation_schedule(op, list->rank, list->ranks);
    for (int i = 0; i < schedule_rounds(&s); i++) {
        struct round r;
        schedule_round(&s, i, &r);
        for (int k = 0; k < r.n_sends; k++)
            list_sends(list, &s, &r.sends[k], op->width);
    }
}

static int compare_sends(const void *a, const void *b)
{
    const struct seen_send *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Returns whether a rank's messages have the order of the program. zero3 gathers parameters before
 * the op that reads them, and its program lists them after the sums. A parameter server that does
 * not wait answers in the order of arrival. */
static bool is_in_order(const struct sync *s)
{
    return s->kind != STRATEGY_zero3 && s->config.variant != VARIANT_param_server_stale &&
           s->config.variant != VARIANT_param_server_async;
}

/* Returns whether the messages since forget_seen are the messages of the strategy's program, for
 * `periods` repetitions of it, in its order if is_in_order. */
static inline bool sends_follow_program(const struct sync *s, uint64_t periods)
{
    static struct program_sends list;
    list.reader.read = list_operation;
    list.rank = s->rank;
    list.ranks = s->ranks;
    list.n = 0;
    for (uint64_t i = 0; i < periods; i++)
        program_read(s->kind, &s->config, s->ranks, s->counts, (size_t)s->arenas.n_tensors,
                     sizeof(real), &list.reader);
    if (list.n != n_seen_sends)
        print_error("rank %d: expected %zu messages, found %zu\n", s->rank, list.n, n_seen_sends);
    bool good = list.n == n_seen_sends;
    if (good && !is_in_order(s)) {
        qsort(list.all, list.n, sizeof *list.all, compare_sends);
        qsort(seen_sends, list.n, sizeof *seen_sends, compare_sends);
    }
    for (size_t i = 0; i < list.n && good; i++) {
        const struct seen_send *expected = &list.all[i], *found = &seen_sends[i];
        good = compare_sends(expected, found) == 0;
        if (!good)
            print_error("rank %d, message %zu: expected %zu bytes to rank %d, found %zu to %d\n",
                        s->rank, i, expected->bytes, expected->rank, found->bytes, found->rank);
    }
    return good;
}
