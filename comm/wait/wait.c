/* Collectives, and what was started before. */
#include <limits.h>

#include "comm/wait/wait_internal.h"
#include "kernels/base/clock.h"

/* ---- Looking ---- */

enum status wait_look(struct waiter *w, int code, MPI_Request *request, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    int done = 0;
    while (code == MPI_SUCCESS && !done && status == OK) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            status = wait_again(w, e);
    }
    w->poll_ns += clock_ns() - begin_ns;
    return code == MPI_SUCCESS ? status : wait_failed(e, code, w->operation);
}

/* The whole rest of a wait. */
static enum status wait_test(struct waiter *w, int code, MPI_Request *request, struct error *e)
{
    enum status status = wait_look(w, code, request, e);
    wait_end(w);
    return status;
}

enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    wait_begin(w, operation);
    while (status == OK && !done(arg))
        status = wait_again(w, e);
    wait_end(w);
    w->poll_ns += clock_ns() - begin_ns;
    return status;
}

/* ---- Collectives ---- */

enum status wait_check_count(size_t count, const char *operation, struct error *e)
{
    if (count > INT_MAX) {
        return error_set(e, ERR_ARGUMENT, "%s: %zu elements in one call; MPI takes at most %d",
                         operation, count, INT_MAX);
    }
    return OK;
}

static size_t type_bytes(MPI_Datatype type)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    return (size_t)bytes;
}

static enum status wait_for_check(void *arg, MPI_Request *request, struct error *e)
{
    return wait_look(arg, MPI_SUCCESS, request, e);
}

/* Where calls are compared, inside a wait that has begun. */
static enum status compare_call(struct waiter *w, const struct call *call, MPI_Comm comm,
                                struct error *e)
{
    struct call_ticket *ticket;
    if (w->check == NULL)
        return OK;
    enum status status = call_check_start(w->check, call, comm, &ticket, e);
    if (status == OK)
        status = call_check_finish(w->check, &ticket, wait_for_check, w, e);
    if (status != OK)
        wait_end(w);
    return status;
}

/* Before one collective of the library. */
static enum status wait_enter(struct waiter *w, const struct call *call, MPI_Comm comm,
                              struct error *e)
{
    waiter_count(w, call->count * type_bytes(call->type));
    wait_begin(w, call->operation);
    return compare_call(w, call, comm, e);
}

enum status wait_allreduce(struct waiter *w, void *values, size_t count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, const char *operation, struct error *e)
{
    if (wait_check_count(count, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"allreduce", operation, count, type, -1};
    TRY(wait_enter(w, &call, comm, e));
    if (wait_sits_in_library(w)) {
        int code = MPI_Allreduce(MPI_IN_PLACE, values, (int)count, type, op, comm);
        return wait_leave(w, code, e);
    }
    MPI_Request request;
    int code = MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, type, op, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_bcast(struct waiter *w, void *values, size_t count, MPI_Datatype type, int root,
                       MPI_Comm comm, const char *operation, struct error *e)
{
    if (wait_check_count(count, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"broadcast", operation, count, type, root};
    TRY(wait_enter(w, &call, comm, e));
    if (wait_sits_in_library(w))
        return wait_leave(w, MPI_Bcast(values, (int)count, type, root, comm), e);
    MPI_Request request;
    int code = MPI_Ibcast(values, (int)count, type, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_gather(struct waiter *w, const void *mine, size_t bytes, void *all, int root,
                        MPI_Comm comm, const char *operation, struct error *e)
{
    if (wait_check_count(bytes, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"gather", operation, bytes, MPI_BYTE, root};
    TRY(wait_enter(w, &call, comm, e));
    int n = (int)bytes;
    if (wait_sits_in_library(w))
        return wait_leave(w, MPI_Gather(mine, n, MPI_BYTE, all, n, MPI_BYTE, root, comm), e);
    MPI_Request request;
    int code = MPI_Igather(mine, n, MPI_BYTE, all, n, MPI_BYTE, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e)
{
    if (wait_check_count(count, operation, e) != OK)
        return ERR_ARGUMENT;
    int rank, n = (int)count;
    MPI_Comm_rank(comm, &rank);
    const void *send = rank == root ? MPI_IN_PLACE : values;
    void *sum = rank == root ? values : NULL;
    const struct call call = {"reduce", operation, count, type, root};
    TRY(wait_enter(w, &call, comm, e));
    if (wait_sits_in_library(w))
        return wait_leave(w, MPI_Reduce(send, sum, n, type, op, root, comm), e);
    MPI_Request request;
    int code = MPI_Ireduce(send, sum, n, type, op, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e)
{
    if (wait_check_count(bytes, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"scatter", operation, bytes, MPI_BYTE, root};
    TRY(wait_enter(w, &call, comm, e));
    int n = (int)bytes;
    if (wait_sits_in_library(w))
        return wait_leave(w, MPI_Scatter(all, n, MPI_BYTE, mine, n, MPI_BYTE, root, comm), e);
    MPI_Request request;
    int code = MPI_Iscatter(all, n, MPI_BYTE, mine, n, MPI_BYTE, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"barrier", operation, 0, MPI_BYTE, -1};
    TRY(wait_enter(w, &call, comm, e));
    if (wait_sits_in_library(w))
        return wait_leave(w, MPI_Barrier(comm), e);
    MPI_Request request;
    return wait_test(w, MPI_Ibarrier(comm, &request), &request, e);
}

enum status wait_comm_dup(struct waiter *w, MPI_Comm comm, MPI_Comm *copy, const char *operation,
                          struct error *e)
{
    enum status status;
    MPI_Request request;
    *copy = MPI_COMM_NULL;
    wait_begin(w, operation);
    if (wait_sits_in_library(w))
        status = wait_leave(w, MPI_Comm_dup(comm, copy), e);
    else
        status = wait_test(w, MPI_Comm_idup(comm, copy, &request), &request, e);
    if (status != OK)
        *copy = MPI_COMM_NULL;
    return status;
}

/* ---- What was started ---- */

enum status wait_starting(struct waiter *w, const struct call *call, MPI_Comm comm, struct error *e)
{
    if (w->check == NULL)
        return OK;
    wait_begin(w, call->operation);
    enum status status = compare_call(w, call, comm, e);
    wait_end(w);
    return status;
}

void waiter_starting(struct waiter *w, const struct call *call, MPI_Comm comm, struct started *s)
{
    struct error e;
    s->ticket = NULL;
    s->code = MPI_SUCCESS;
    if (w->check != NULL && call_check_start(w->check, call, comm, &s->ticket, &e) != OK)
        s->code = MPI_ERR_OTHER;
}

bool waiter_is_there(struct waiter *w, struct started *s)
{
    int done = 0;
    if (s->code == MPI_SUCCESS && (w->check == NULL || call_check_test(w->check, &s->ticket)))
        s->code = MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    return done && s->code == MPI_SUCCESS;
}

enum status wait_for_started(struct waiter *w, struct started *s, const char *operation,
                             struct error *e)
{
    enum status status = OK;
    waiter_count(w, s->bytes);
    wait_begin(w, operation);
    if (w->check != NULL)
        status = call_check_finish(w->check, &s->ticket, wait_for_check, w, e);
    if (status == OK && wait_sits_in_library(w) && s->code == MPI_SUCCESS)
        s->code = MPI_Wait(&s->request, MPI_STATUS_IGNORE);
    else if (status == OK)
        status = wait_look(w, s->code, &s->request, e);
    wait_end(w);
    return status == OK && s->code != MPI_SUCCESS ? wait_failed(e, s->code, operation) : status;
}

enum status wait_requests(struct waiter *w, int started, MPI_Request *requests, int n,
                          const char *operation, struct error *e)
{
    wait_begin(w, operation);
    if (wait_sits_in_library(w)) {
        for (int i = 0; i < n && started == MPI_SUCCESS; i++)
            started = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        return wait_leave(w, started, e);
    }
    enum status status = started == MPI_SUCCESS ? OK : wait_failed(e, started, operation);
    for (int i = 0; i < n && status == OK; i++)
        status = wait_look(w, MPI_SUCCESS, &requests[i], e);
    wait_end(w);
    return status;
}

enum status wait_started(struct waiter *w, int started, MPI_Request *requests, int n, size_t bytes,
                         const char *operation, struct error *e)
{
    waiter_count(w, bytes);
    return wait_requests(w, started, requests, n, operation, e);
}
