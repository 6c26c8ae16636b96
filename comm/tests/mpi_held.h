/* Counts communicators, groups, windows and requests that a program holds, at the MPI boundary,
 * to check that all are freed. Included by one file of a test program. */
#pragma once

#include "comm/tests/mpi_test.h"

static struct {
    int comms, groups, windows, requests;
} held;

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    held.comms++;
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
    held.comms++;
    held.requests++;
    return PMPI_Comm_idup(comm, copy, request);
}

/* MPI_UNDEFINED gives no communicator. */
int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *part)
{
    int code = PMPI_Comm_split(comm, colour, key, part);
    held.comms += *part != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
    int code = PMPI_Comm_split_type(comm, type, key, info, part);
    held.comms += *part != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *part)
{
    int code = PMPI_Comm_create(comm, group, part);
    held.comms += *part != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    held.comms--;
    return PMPI_Comm_free(comm);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    held.groups++;
    return PMPI_Comm_group(comm, group);
}

int MPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group *both)
{
    held.groups++;
    return PMPI_Group_intersection(one, other, both);
}

int MPI_Group_free(MPI_Group *group)
{
    held.groups--;
    return PMPI_Group_free(group);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                            MPI_Win *window)
{
    held.windows++;
    return PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
}

int MPI_Win_free(MPI_Win *window)
{
    held.windows--;
    return PMPI_Win_free(window);
}

#define STARTS(name, parameters, arguments)                                                        \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        held.requests++;                                                                           \
        return PMPI_##name arguments;                                                              \
    }

STARTS(Isend,
       (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r),
       (data, n, type, to, tag, comm, r))
STARTS(Irecv,
       (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r),
       (data, n, type, from, tag, comm, r))
STARTS(Iallreduce,
       (const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
        MPI_Request *r),
       (send, receive, n, type, op, comm, r))
STARTS(Ireduce,
       (const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op, int root,
        MPI_Comm comm, MPI_Request *r),
       (send, receive, n, type, op, root, comm, r))
STARTS(Ibcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *r),
       (data, n, type, root, comm, r))
STARTS(Igather,
       (const void *send, int n, MPI_Datatype type, void *receive, int m, MPI_Datatype other,
        int root, MPI_Comm comm, MPI_Request *r),
       (send, n, type, receive, m, other, root, comm, r))
STARTS(Iallgather,
       (const void *send, int n, MPI_Datatype type, void *receive, int m, MPI_Datatype other,
        MPI_Comm comm, MPI_Request *r),
       (send, n, type, receive, m, other, comm, r))
STARTS(Iscatter,
       (const void *send, int n, MPI_Datatype type, void *receive, int m, MPI_Datatype other,
        int root, MPI_Comm comm, MPI_Request *r),
       (send, n, type, receive, m, other, root, comm, r))
STARTS(Ibarrier, (MPI_Comm comm, MPI_Request *r), (comm, r))

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    bool active = *request != MPI_REQUEST_NULL;
    int code = PMPI_Test(request, done, status);
    held.requests -= active && *request == MPI_REQUEST_NULL;
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    bool active = *request != MPI_REQUEST_NULL;
    int code = PMPI_Wait(request, status);
    held.requests -= active && *request == MPI_REQUEST_NULL;
    return code;
}

static inline bool holds_nothing(const char *whose)
{
    bool nothing = held.comms == 0 && held.groups == 0 && held.windows == 0 && held.requests == 0;
    if (!nothing)
        print_error("%s: %d communicators, %d groups, %d windows, %d requests are left\n", whose,
                    held.comms, held.groups, held.windows, held.requests);
    return nothing;
}
