/* Counts calls, messages and bytes below MPI's interface, as a profiler does. Included once by a
 * test program. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <unistd.h>

#include "comm/cost/library.h"

static struct {
    uint64_t calls, bytes;
    uint64_t messages, sent; /* point to point */
    struct cost collectives; /* messages and bytes of collectives, by the program of each */
} seen;

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

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    uint64_t before = seen.bytes;
    see(count, type);
    seen.messages++;
    seen.sent += seen.bytes - before;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    see(count, type);
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}
