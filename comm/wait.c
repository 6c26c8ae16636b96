#include "comm/wait.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"

/* A rank of which nothing was heard for so long, while others wait, has stopped. The watchdog and
 * the polling loops give a sign of life far more often. */
#define SILENCE_NS 500000000

/* At flags, before a rank lets others have its core: some 50 us. */
#define LOOKS_ALONE 1024

static enum status mpi_error(struct error *e, int code, const char *operation)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return error_set(e, ERR_MPI, "%s: %.*s", operation, length, text);
}

/* The wait of those that are furthest behind. Ranks that wait for them in turn, as the neighbours
 * in a ring do, are ahead of them. */
static uint64_t last_sequence(const struct waiter *w)
{
    uint64_t last = w->sequence;
    for (int r = 0; r < w->node_ranks; r++)
        if (w->presence[r].sequence < last)
            last = w->presence[r].sequence;
    return last;
}

/* Writes "rank 1 3" for the other ranks of this node that are at wait `sequence` or, with `silent`,
 * those of them that give no sign of life; false when there are none. */
static bool name_ranks(const struct waiter *w, char *text, size_t size, uint64_t sequence,
                       bool silent)
{
    int64_t now_ns = clock_ns();
    size_t used = (size_t)snprintf(text, size, "rank");
    size_t empty = used;
    for (int r = 0; r < w->node_ranks; r++) {
        bool named = r != w->node_rank &&
                     (w->free_running || w->presence[r].sequence == sequence) &&
                     (!silent || now_ns - w->presence[r].alive_ns > SILENCE_NS);
        if (named && used < size)
            used += (size_t)snprintf(text + used, size - used, " %d", w->world_ranks[r]);
    }
    return used > empty;
}

/* Also the watchdog's, from its own thread, while this rank may just be leaving the wait. */
static void describe_timeout(void *arg, char *text, size_t size)
{
    const struct waiter *w = arg;
    char ranks[256];
    const char *found = "all ranks of this node are there: another node's rank, or the network";
    const char *what = "";
    uint64_t last = last_sequence(w);
    bool late = last < w->sequence && !w->free_running;
    if (name_ranks(w, ranks, sizeof ranks, last, true) ||
        (late && name_ranks(w, ranks, sizeof ranks, last, false))) {
        what = late ? "not there yet: " : "there, but silent: ";
        found = ranks;
    }
    snprintf(text, size, "rank %d: wait %llu (%s) lasted longer than %g s; %s%s",
             w->world_ranks[w->node_rank], (unsigned long long)w->sequence, w->operation,
             w->deadline_s, what, found);
}

/* The node's ranks get one window with a line for each. */
static enum status share_presence(struct waiter *w, MPI_Comm comm, struct error *e)
{
    MPI_Comm node;
    int world_rank, code;
    MPI_Comm_rank(comm, &world_rank);
    code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &node);
    if (code != MPI_SUCCESS)
        return mpi_error(e, code, "finding the ranks of this node");
    MPI_Comm_rank(node, &w->node_rank);
    MPI_Comm_size(node, &w->node_ranks);
    w->world_ranks = malloc((size_t)w->node_ranks * sizeof *w->world_ranks);
    if (w->world_ranks == NULL) {
        MPI_Comm_free(&node);
        return error_set(e, ERR_MEMORY, "no memory for %d rank numbers", w->node_ranks);
    }
    MPI_Allgather(&world_rank, 1, MPI_INT, w->world_ranks, 1, MPI_INT, node);

    void *mine;
    MPI_Aint line = sizeof *w->presence;
    MPI_Aint bytes = w->node_rank == 0 ? line * w->node_ranks : 0;
    code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &mine, &w->window);
    if (code == MPI_SUCCESS) {
        MPI_Aint size;
        int unit;
        void *shared;
        MPI_Win_shared_query(w->window, 0, &size, &unit, &shared);
        w->presence = shared;
        w->presence[w->node_rank].sequence = 0;
        w->presence[w->node_rank].alive_ns = clock_ns();
        MPI_Barrier(node);
    }
    MPI_Comm_free(&node);
    return code == MPI_SUCCESS ? OK : mpi_error(e, code, "sharing memory among a node's ranks");
}

enum status waiter_open(struct waiter *w, enum wait_kind kind, double deadline_s, MPI_Comm comm,
                        struct error *e)
{
    memset(w, 0, sizeof *w);
    w->kind = kind;
    w->deadline_s = deadline_s;
    w->window = MPI_WIN_NULL;
    enum status status = share_presence(w, comm, e);
    if (status == OK && kind == WAIT_BLOCK && deadline_s > 0) {
        status = watchdog_start(&w->watchdog, describe_timeout, w,
                                &w->presence[w->node_rank].alive_ns, e);
    }
    if (status != OK)
        waiter_close(w);
    return status;
}

enum status waiter_check_calls(struct waiter *w, MPI_Comm largest, struct error *e)
{
    return call_check_open(&w->check, largest, e);
}

void waiter_close(struct waiter *w)
{
    call_check_close(w->check);
    w->check = NULL;
    watchdog_stop(w->watchdog);
    w->watchdog = NULL;
    if (w->window != MPI_WIN_NULL)
        MPI_Win_free(&w->window);
    w->presence = NULL;
    free(w->world_ranks);
    w->world_ranks = NULL;
}

/* Only a time to compare: it says nothing about what else was written. */
static void give_sign_of_life(struct waiter *w, int64_t now_ns)
{
    atomic_store_explicit(&w->presence[w->node_rank].alive_ns, now_ns, memory_order_relaxed);
}

/* Notes the arrival and starts the deadline. */
static void wait_begin(struct waiter *w, const char *operation)
{
    w->operation = operation;
    w->sequence++;
    w->presence[w->node_rank].sequence = w->sequence;
    w->deadline_ns = w->deadline_s > 0 ? clock_ns() + (int64_t)(w->deadline_s * 1e9) : INT64_MAX;
    if (w->watchdog != NULL)
        watchdog_arm(w->watchdog, w->deadline_ns);
}

void waiter_count(struct waiter *w, size_t bytes)
{
    w->calls++;
    w->bytes_payload += bytes;
}

/* Ends a blocking call. */
static enum status wait_leave(struct waiter *w, int code, struct error *e)
{
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
    return code == MPI_SUCCESS ? OK : mpi_error(e, code, w->operation);
}

/* Whether waits are the library's own: a rank that serves others must be able to. */
static bool sits_in_library(const struct waiter *w)
{
    return w->kind == WAIT_BLOCK && w->serve == NULL;
}

/* Between two looks at what is waited for: others get their turn, and the deadline passes. */
static enum status wait_again(struct waiter *w, struct error *e)
{
    char text[512];
    if (w->serve != NULL)
        w->serve(w->serve_arg);
    if (w->kind == WAIT_YIELD)
        sched_yield();
    int64_t now_ns = clock_ns();
    give_sign_of_life(w, now_ns);
    if (now_ns <= w->deadline_ns)
        return OK;
    describe_timeout(w, text, sizeof text);
    return error_set(e, ERR_TIMEOUT, "%s", text);
}

/* Ends a loop of looks, whose deadline is the loop's own affair. */
static enum status end_looks(struct waiter *w, int64_t begin_ns, enum status status)
{
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
    w->poll_ns += clock_ns() - begin_ns;
    return status;
}

/* Tests until the request that `code` says was started is complete or the deadline has passed. */
static enum status wait_test(struct waiter *w, int code, MPI_Request *request, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    int done = 0;
    while (code == MPI_SUCCESS && !done && status == OK) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            status = wait_again(w, e);
    }
    status = end_looks(w, begin_ns, status);
    return code == MPI_SUCCESS ? status : mpi_error(e, code, w->operation);
}

enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    wait_begin(w, operation);
    while (status == OK && !done(arg))
        status = wait_again(w, e);
    return end_looks(w, begin_ns, status);
}

static enum status check_count(size_t count, const char *operation, struct error *e)
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
    return wait_test(arg, MPI_SUCCESS, request, e);
}

/* Where calls are compared, inside a wait that has begun. */
static enum status compare_call(struct waiter *w, const struct call *call, MPI_Comm comm,
                                struct error *e)
{
    if (w->check == NULL)
        return OK;
    enum status status = call_check(w->check, call, comm, wait_for_check, w, e);
    if (status != OK && w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
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
    if (check_count(count, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"allreduce", operation, count, type, -1};
    if (wait_enter(w, &call, comm, e) != OK)
        return e->status;
    if (sits_in_library(w)) {
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
    if (check_count(count, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"broadcast", operation, count, type, root};
    if (wait_enter(w, &call, comm, e) != OK)
        return e->status;
    if (sits_in_library(w))
        return wait_leave(w, MPI_Bcast(values, (int)count, type, root, comm), e);
    MPI_Request request;
    int code = MPI_Ibcast(values, (int)count, type, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_gather(struct waiter *w, const void *mine, size_t bytes, void *all, int root,
                        MPI_Comm comm, const char *operation, struct error *e)
{
    if (check_count(bytes, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"gather", operation, bytes, MPI_BYTE, root};
    if (wait_enter(w, &call, comm, e) != OK)
        return e->status;
    int n = (int)bytes;
    if (sits_in_library(w))
        return wait_leave(w, MPI_Gather(mine, n, MPI_BYTE, all, n, MPI_BYTE, root, comm), e);
    MPI_Request request;
    int code = MPI_Igather(mine, n, MPI_BYTE, all, n, MPI_BYTE, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e)
{
    if (check_count(count, operation, e) != OK)
        return ERR_ARGUMENT;
    int rank, n = (int)count;
    MPI_Comm_rank(comm, &rank);
    const void *send = rank == root ? MPI_IN_PLACE : values;
    void *sum = rank == root ? values : NULL;
    const struct call call = {"reduce", operation, count, type, root};
    if (wait_enter(w, &call, comm, e) != OK)
        return e->status;
    if (sits_in_library(w))
        return wait_leave(w, MPI_Reduce(send, sum, n, type, op, root, comm), e);
    MPI_Request request;
    int code = MPI_Ireduce(send, sum, n, type, op, root, comm, &request);
    return wait_test(w, code, &request, e);
}

enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e)
{
    if (check_count(bytes, operation, e) != OK)
        return ERR_ARGUMENT;
    const struct call call = {"scatter", operation, bytes, MPI_BYTE, root};
    if (wait_enter(w, &call, comm, e) != OK)
        return e->status;
    int n = (int)bytes;
    if (sits_in_library(w))
        return wait_leave(w, MPI_Scatter(all, n, MPI_BYTE, mine, n, MPI_BYTE, root, comm), e);
    MPI_Request request;
    int code = MPI_Iscatter(all, n, MPI_BYTE, mine, n, MPI_BYTE, root, comm, &request);
    return wait_test(w, code, &request, e);
}

/* Waits for one message that has been started. */
static enum status wait_message(struct waiter *w, struct message *message, struct error *e)
{
    if (!sits_in_library(w))
        return wait_test(w, MPI_SUCCESS, &message->request, e);
    int code = MPI_Wait(&message->request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? OK : mpi_error(e, code, w->operation);
}

/* Waits for messages that have been started, one after the other: all of them must come. */
static enum status wait_messages(struct waiter *w, int code, struct message *messages, int n,
                                 struct error *e)
{
    enum status status = code == MPI_SUCCESS ? OK : mpi_error(e, code, w->operation);
    for (int i = 0; i < n && status == OK; i++)
        status = wait_message(w, &messages[i], e);
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
    return status;
}

/* In pairs of the same number, then what is left of the longer list. */
static enum status wait_pairs(struct waiter *w, int code, const struct exchange *x, struct error *e)
{
    enum status status = code == MPI_SUCCESS ? OK : mpi_error(e, code, w->operation);
    for (int i = 0; (i < x->n_sends || i < x->n_receives) && status == OK; i++) {
        if (i < x->n_sends)
            status = wait_message(w, &x->sends[i], e);
        if (i < x->n_receives && status == OK)
            status = wait_message(w, &x->receives[i], e);
        if (i < x->n_receives && status == OK && x->arrived != NULL)
            x->arrived(x->arg, i);
    }
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
    return status;
}

static enum status check_messages(const struct message *messages, int n, const char *operation,
                                  struct error *e)
{
    for (int i = 0; i < n; i++)
        if (check_count(messages[i].bytes, operation, e) != OK)
            return ERR_ARGUMENT;
    return OK;
}

int waiter_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        struct message *m = &messages[i];
        waiter_count(w, m->bytes);
        w->messages_sent++;
        w->bytes_sent += m->bytes;
        code = MPI_Isend(m->data, (int)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
    }
    return code;
}

int waiter_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        struct message *m = &messages[i];
        waiter_count(w, m->bytes);
        code = MPI_Irecv(m->data, (int)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
    }
    return code;
}

void waiter_cancel(struct message *message)
{
    if (message->request == MPI_REQUEST_NULL)
        return;
    MPI_Cancel(&message->request);
    MPI_Wait(&message->request, MPI_STATUS_IGNORE); /* of what is cancelled: local */
}

enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e)
{
    if (check_messages(messages, n, operation, e) != OK)
        return ERR_ARGUMENT;
    wait_begin(w, operation);
    return wait_messages(w, waiter_send(w, messages, n, comm), messages, n, e);
}

enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e)
{
    if (check_messages(messages, n, operation, e) != OK)
        return ERR_ARGUMENT;
    wait_begin(w, operation);
    return wait_messages(w, waiter_receive(w, messages, n, comm), messages, n, e);
}

/* Receives first: what arrives finds its place. */
enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e)
{
    if (check_messages(x->sends, x->n_sends, x->operation, e) != OK ||
        check_messages(x->receives, x->n_receives, x->operation, e) != OK)
        return ERR_ARGUMENT;
    wait_begin(w, x->operation);
    int code = waiter_receive(w, x->receives, x->n_receives, x->comm);
    if (code == MPI_SUCCESS)
        code = waiter_send(w, x->sends, x->n_sends, x->comm);
    return wait_pairs(w, code, x, e);
}

enum status wait_starting(struct waiter *w, const struct call *call, MPI_Comm comm, struct error *e)
{
    if (w->check == NULL)
        return OK;
    wait_begin(w, call->operation);
    enum status status = compare_call(w, call, comm, e);
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
    return status;
}

enum status wait_requests(struct waiter *w, int started, MPI_Request *requests, int n,
                          const char *operation, struct error *e)
{
    wait_begin(w, operation);
    if (sits_in_library(w)) {
        for (int i = 0; i < n && started == MPI_SUCCESS; i++)
            started = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        return wait_leave(w, started, e);
    }
    enum status status = started == MPI_SUCCESS ? OK : mpi_error(e, started, operation);
    for (int i = 0; i < n && status == OK; i++)
        status = wait_test(w, MPI_SUCCESS, &requests[i], e);
    return status;
}

enum status wait_started(struct waiter *w, int started, MPI_Request *requests, int n, size_t bytes,
                         const char *operation, struct error *e)
{
    waiter_count(w, bytes);
    return wait_requests(w, started, requests, n, operation, e);
}

void flag_raise(struct flag *flag, uint64_t value)
{
    atomic_store_explicit(&flag->value, value, memory_order_release);
}

static bool are_raised(struct flag *const *flags, int n, uint64_t value)
{
    bool raised = true;
    for (int i = 0; i < n && raised; i++)
        raised = atomic_load_explicit(&flags[i]->value, memory_order_acquire) >= value;
    return raised;
}

/* Between two looks at the flags. Also a rank that owns its core lets go of it now and then, and
 * helps messages along that others may still wait for. */
static void let_others_run(const struct waiter *w, unsigned looks, MPI_Comm comm)
{
    int found;
    if (w->kind == WAIT_YIELD || looks % LOOKS_ALONE == 0)
        sched_yield();
    if (looks % LOOKS_ALONE == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
}

/* Looks at the clock itself, in every way of waiting: the watchdog is for calls that do not. */
enum status wait_flags(struct waiter *w, struct flag *const *flags, int n, uint64_t value,
                       MPI_Comm comm, const char *operation, struct error *e)
{
    int64_t begin_ns = clock_ns();
    wait_begin(w, operation);
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
    for (unsigned looks = 1; !are_raised(flags, n, value); looks++) {
        let_others_run(w, looks, comm);
        if (w->serve != NULL)
            w->serve(w->serve_arg);
        int64_t now_ns = clock_ns();
        give_sign_of_life(w, now_ns);
        if (now_ns > w->deadline_ns) {
            char text[512];
            describe_timeout(w, text, sizeof text);
            return error_set(e, ERR_TIMEOUT, "%s", text);
        }
    }
    w->poll_ns += clock_ns() - begin_ns;
    return OK;
}

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e)
{
    const struct call call = {"barrier", operation, 0, MPI_BYTE, -1};
    if (wait_enter(w, &call, comm, e) != OK)
        return e->status;
    if (sits_in_library(w))
        return wait_leave(w, MPI_Barrier(comm), e);
    MPI_Request request;
    return wait_test(w, MPI_Ibarrier(comm, &request), &request, e);
}
