#include <limits.h>

#include "comm/wait/wait_internal.h"
#include "kernels/base/clock.h"

/* ---- Testing in a loop ---- */

/* Tests the request until it is complete; ERR_TIMEOUT after the deadline. `code`: MPI error code of
 * the call that started the request; if not MPI_SUCCESS, returns ERR_MPI without testing. */
static enum status poll_request(struct waiter *w, int code, MPI_Request *request, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    int done = 0;
    while (code == MPI_SUCCESS && !done && status == OK) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            status = wait_pause(w, e);
    }
    w->poll_ns += clock_ns() - begin_ns;
    return code == MPI_SUCCESS ? status : mpi_status(code, w->operation, e);
}

enum status wait_request(struct waiter *w, MPI_Request *request, struct error *e)
{
    if (!waiter_blocks(w))
        return poll_request(w, MPI_SUCCESS, request, e);
    return mpi_status(MPI_Wait(request, MPI_STATUS_IGNORE), w->operation, e);
}

enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    wait_enter(w, operation);
    while (status == OK && !done(arg))
        status = wait_pause(w, e);
    wait_leave(w);
    w->poll_ns += clock_ns() - begin_ns;
    return status;
}

/* ---- Collectives ---- */

static enum status check_count(size_t count, const char *operation, struct error *e)
{
    if (count <= INT_MAX)
        return OK;
    return error_set(e, ERR_ARGUMENT, "%s has %zu elements in one call, but MPI accepts at most %d",
                     operation, count, INT_MAX);
}

static void count_call(struct waiter *w, const struct call *call)
{
    int bytes;
    MPI_Type_size(call->type, &bytes);
    waiter_count(w, call->count * (size_t)bytes);
}

static enum status wait_for_check(void *arg, MPI_Request *request, struct error *e)
{
    return poll_request(arg, MPI_SUCCESS, request, e);
}

/* In check mode, compares this rank's call with the calls of the other ranks. Call it between
 * wait_enter and wait_leave. */
static enum status compare_call(struct waiter *w, const struct call *call, MPI_Comm comm,
                                struct error *e)
{
    struct call_ticket *ticket;
    if (w->check == NULL)
        return OK;
    TRY(call_check_start(w->check, call, comm, &ticket, e));
    return call_check_finish(&ticket, wait_for_check, w, e);
}

/* Begins a collective: checks its number of elements, counts the call, calls wait_enter and
 * compares the ranks' calls. Calls wait_leave if the comparison fails. */
static enum status begin_collective(struct waiter *w, const struct call *call, MPI_Comm comm,
                                    struct error *e)
{
    TRY(check_count(call->count, call->operation, e));
    count_call(w, call);
    wait_enter(w, call->operation);
    enum status status = compare_call(w, call, comm, e);
    if (status != OK)
        wait_leave(w);
    return status;
}

static enum status end_collective(struct waiter *w, enum status status)
{
    wait_leave(w);
    return status;
}

/* Executes a collective and returns its status from the enclosing function. Blocks inside MPI only
 * if waiter_blocks(w). */
#define COLLECTIVE(w, e, blocking, nonblocking, ...)                                               \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        if (waiter_blocks(w))                                                                      \
            return end_collective(w, mpi_status(blocking(__VA_ARGS__), (w)->operation, e));        \
        int code = nonblocking(__VA_ARGS__, &request);                                             \
        return end_collective(w, poll_request(w, code, &request, e));                              \
    } while (0)

enum status wait_allreduce(struct waiter *w, void *values, size_t count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"allreduce", operation, count, type, -1};
    TRY(begin_collective(w, &call, comm, e));
    COLLECTIVE(w, e, MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, values, (int)count, type, op,
               comm);
}

enum status wait_bcast(struct waiter *w, void *values, size_t count, MPI_Datatype type, int root,
                       MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"broadcast", operation, count, type, root};
    TRY(begin_collective(w, &call, comm, e));
    COLLECTIVE(w, e, MPI_Bcast, MPI_Ibcast, values, (int)count, type, root, comm);
}

enum status wait_gather(struct waiter *w, const void *mine, size_t bytes, void *all, int root,
                        MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"gather", operation, bytes, MPI_BYTE, root};
    TRY(begin_collective(w, &call, comm, e));
    int n = (int)bytes;
    COLLECTIVE(w, e, MPI_Gather, MPI_Igather, mine, n, MPI_BYTE, all, n, MPI_BYTE, root, comm);
}

enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    const void *send = rank == root ? MPI_IN_PLACE : values;
    void *sum = rank == root ? values : NULL;
    const struct call call = {"reduce", operation, count, type, root};
    TRY(begin_collective(w, &call, comm, e));
    COLLECTIVE(w, e, MPI_Reduce, MPI_Ireduce, send, sum, (int)count, type, op, root, comm);
}

enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"scatter", operation, bytes, MPI_BYTE, root};
    TRY(begin_collective(w, &call, comm, e));
    int n = (int)bytes;
    COLLECTIVE(w, e, MPI_Scatter, MPI_Iscatter, all, n, MPI_BYTE, mine, n, MPI_BYTE, root, comm);
}

static enum status barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"barrier", operation, 0, MPI_BYTE, -1};
    TRY(begin_collective(w, &call, comm, e));
    if (w->alone_since_ns > 0)
        wait_allow(w, clock_ns() - w->alone_since_ns);
    COLLECTIVE(w, e, MPI_Barrier, MPI_Ibarrier, comm);
}

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e)
{
    TRY(barrier(w, comm, operation, e));
    if (w->alone_since_ns > 0)
        w->alone_since_ns = clock_ns();
    return OK;
}

enum status wait_comm_dup(struct waiter *w, MPI_Comm comm, MPI_Comm *copy, const char *operation,
                          struct error *e)
{
    enum status status;
    MPI_Request request;
    *copy = MPI_COMM_NULL;
    wait_enter(w, operation);
    if (waiter_blocks(w))
        status = mpi_status(MPI_Comm_dup(comm, copy), operation, e);
    else
        status = poll_request(w, MPI_Comm_idup(comm, copy, &request), &request, e);
    wait_leave(w);
    if (status != OK)
        *copy = MPI_COMM_NULL;
    return status;
}

/* ---- Pending sums ---- */

static struct call call_of(const struct pending *p)
{
    return (struct call){"allreduce", p->operation, p->count, p->type, -1};
}

static void start_sum(struct waiter *w, struct pending *p)
{
    const struct call call = call_of(p);
    count_call(w, &call);
    p->active = true;
    p->begin_ns = timeline_now(w->timeline);
    if (p->code == MPI_SUCCESS)
        p->code = MPI_Iallreduce(MPI_IN_PLACE, p->values, (int)p->count, p->type, p->op, p->comm,
                                 &p->request);
}

enum status pending_begin(struct waiter *w, struct pending *p, struct error *e)
{
    enum status status = OK;
    const struct call call = call_of(p);
    if (w->check != NULL) {
        wait_enter(w, p->operation);
        status = end_collective(w, compare_call(w, &call, p->comm, e));
    }
    p->ticket = NULL;
    p->code = MPI_SUCCESS;
    if (status == OK)
        start_sum(w, p);
    return status;
}

void pending_begin_at_once(struct waiter *w, struct pending *p)
{
    struct error e;
    const struct call call = call_of(p);
    p->ticket = NULL;
    p->code = MPI_SUCCESS;
    if (w->check != NULL && call_check_start(w->check, &call, p->comm, &p->ticket, &e) != OK)
        p->code = MPI_ERR_OTHER;
    start_sum(w, p);
}

bool pending_test(struct waiter *w, struct pending *p)
{
    int done = 0;
    if (!p->active)
        return true;
    if (p->code == MPI_SUCCESS && (w->check == NULL || call_check_test(&p->ticket)))
        p->code = MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
    p->active = !done || p->code != MPI_SUCCESS;
    if (!p->active)
        timeline_end(w->timeline, PHASE_flight, p->operation, p->begin_ns);
    return !p->active;
}

static enum status finish_sum(struct waiter *w, struct pending *p, struct error *e)
{
    if (w->check != NULL)
        TRY(call_check_finish(&p->ticket, wait_for_check, w, e));
    TRY(mpi_status(p->code, p->operation, e));
    return wait_request(w, &p->request, e);
}

enum status pending_wait(struct waiter *w, struct pending *p, struct error *e)
{
    wait_enter(w, p->operation);
    enum status status = p->active ? finish_sum(w, p, e) : OK;
    wait_leave(w);
    if (p->active && status == OK)
        timeline_end(w->timeline, PHASE_flight, p->operation, p->begin_ns);
    p->active = p->active && status != OK;
    return status;
}

/* ---- Requests of the caller ---- */

enum status wait_requests(struct waiter *w, int code, MPI_Request *requests, int n, size_t bytes,
                          const char *operation, struct error *e)
{
    waiter_count(w, bytes);
    wait_enter(w, operation);
    enum status status = mpi_status(code, operation, e);
    for (int i = 0; i < n && status == OK; i++)
        status = wait_request(w, &requests[i], e);
    wait_leave(w);
    return status;
}
