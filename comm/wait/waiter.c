/* Implements the waits of a rank: wait policy, state in shared memory, watchdog, and the message
 * when a deadline passes. */
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/wait/progress.h"
#include "comm/wait/startup_watchdog.h"
#include "comm/wait/wait_internal.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Time (ns) without a sign of life after which a waiting rank counts as stopped. The watchdog and
 * test loops update alive_ns far more often. */
#define SILENCE_NS 500000000

#define MEETING "synchronising the ranks of this node"

/* Time (ns) added to the watchdog's deadline if the rank polls instead of blocking. The polling
 * loop checks the deadline itself, so the watchdog acts only if the rank is stuck inside MPI. */
#define SLACK_NS 1000000000

/* ---- Messages ---- */

/* Returns the lowest sequence number among the latest waits of this node's ranks. Only ranks with
 * this number can be reported as late, since ranks with higher numbers may just be waiting for
 * these ranks. */
static uint64_t last_sequence(const struct waiter *w)
{
    uint64_t last = w->sequence;
    for (int r = 0; r < w->node_ranks; r++)
        if (w->presence[r].sequence < last)
            last = w->presence[r].sequence;
    return last;
}

/* Writes a list such as "rank 1 3" of the other ranks of this node whose current wait has number
 * `sequence` (any number if w->free_running). `only_stopped`: only ranks that count as stopped.
 * Returns false if the list is empty. */
static bool name_ranks(const struct waiter *w, char *text, size_t size, uint64_t sequence,
                       bool only_stopped)
{
    int64_t now_ns = clock_ns();
    size_t used = (size_t)snprintf(text, size, "rank");
    size_t empty = used;
    for (int r = 0; r < w->node_ranks; r++) {
        bool named = r != w->node_rank &&
                     (w->free_running || w->presence[r].sequence == sequence) &&
                     (!only_stopped || now_ns - w->presence[r].alive_ns > SILENCE_NS);
        if (named && used < size)
            used += (size_t)snprintf(text + used, size - used, " %d", w->world_ranks[r]);
    }
    return used > empty;
}

/* Describes a wait that has exceeded its deadline. The watchdog's thread may call this function
 * while the rank is just leaving the wait. */
static void describe_timeout(void *arg, char *text, size_t size)
{
    const struct waiter *w = arg;
    char ranks[256];
    const char *found = "all ranks of this node have arrived: check other nodes and the network";
    const char *what = "";
    uint64_t last = last_sequence(w);
    bool late = last < w->sequence && !w->free_running;
    if (name_ranks(w, ranks, sizeof ranks, last, true) ||
        (late && name_ranks(w, ranks, sizeof ranks, last, false))) {
        what = late ? "not arrived yet: " : "arrived, but silent: ";
        found = ranks;
    }
    snprintf(text, size, "rank %d: wait %llu (%s) lasted longer than %g s; %s%s",
             w->world_ranks[w->node_rank], (unsigned long long)w->sequence, w->operation,
             w->deadline_s, what, found);
}

/* ---- Life ---- */

/* Tests a request until it is complete; returns MPI's error code. Under WAIT_YIELD (more ranks than
 * cores), yields the core between tests. MPI_Wait would poll instead and keep other ranks from
 * running. */
static int finish(const struct waiter *w, MPI_Request *request)
{
    int code = MPI_SUCCESS, done = 0;
    while (code == MPI_SUCCESS && !done) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done && w->kind == WAIT_YIELD)
            sched_yield();
    }
    return code;
}

static int gather_all(const struct waiter *w, int mine, int *all, MPI_Comm node)
{
    MPI_Request request;
    int code = MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, node, &request);
    return code == MPI_SUCCESS ? finish(w, &request) : code;
}

static enum status find_node_ranks(struct waiter *w, MPI_Comm node, int world_rank, struct error *e)
{
    MPI_Comm_group(node, &w->node);
    MPI_Group_rank(w->node, &w->node_rank);
    MPI_Group_size(w->node, &w->node_ranks);
    size_t n = (size_t)w->node_ranks;
    TRY(MEM_NEW(w->world_ranks, n, "the numbers of a node's ranks", e));
    TRY(MEM_NEW(w->processes, n, "the processes of a node's ranks", e));
    int code = gather_all(w, world_rank, w->world_ranks, node);
    if (code == MPI_SUCCESS)
        code = gather_all(w, (int)getpid(), w->processes, node);
    return mpi_status(code, MEETING, e);
}

/* Allocates a shared window with one struct presence for each rank of the node. */
static enum status open_window(struct waiter *w, MPI_Comm node, struct error *e)
{
    void *mine;
    MPI_Aint line = sizeof *w->presence;
    MPI_Aint bytes = w->node_rank == 0 ? line * w->node_ranks : 0;
    int code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &mine, &w->window);
    TRY(mpi_status(code, "sharing memory among a node's ranks", e));
    MPI_Aint size;
    int unit;
    void *shared;
    MPI_Win_shared_query(w->window, 0, &size, &unit, &shared);
    w->presence = shared;
    w->presence[w->node_rank].sequence = 0;
    w->presence[w->node_rank].alive_ns = clock_ns();
    MPI_Request request;
    code = MPI_Ibarrier(node, &request);
    if (code == MPI_SUCCESS)
        code = finish(w, &request);
    return mpi_status(code, MEETING, e);
}

static enum status share_presence(struct waiter *w, MPI_Comm comm, struct error *e)
{
    MPI_Comm node;
    int world_rank;
    MPI_Comm_rank(comm, &world_rank);
    int code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &node);
    TRY(mpi_status(code, "finding the ranks of this node", e));
    enum status status = find_node_ranks(w, node, world_rank, e);
    THEN(status, open_window(w, node, e));
    MPI_Comm_free(&node);
    return status;
}

enum status waiter_open(struct waiter *w, enum wait_kind kind, double deadline_s, MPI_Comm comm,
                        struct error *e)
{
    struct startup_watchdog startup;
    memset(w, 0, sizeof *w);
    w->kind = kind;
    if (kind == WAIT_YIELD)
        progress_yield();
    w->deadline_s = deadline_s;
    w->message_most = MPI_VERSION >= 4 ? PTRDIFF_MAX : INT_MAX;
    w->node = MPI_GROUP_NULL;
    w->window = MPI_WIN_NULL;
    enum status status = startup_watchdog_begin(&startup, MEETING, deadline_s, e);
    THEN(status, share_presence(w, comm, e));
    startup_watchdog_end(&startup);
    if (status == OK && deadline_s > 0) {
        status = watchdog_start(&w->watchdog, describe_timeout, w,
                                &w->presence[w->node_rank].alive_ns, e);
    }
    if (status != OK)
        waiter_close(w);
    return status;
}

enum status waiter_check_calls(struct waiter *w, struct error *e)
{
    return call_check_open(&w->check, e);
}

/* Frees the shared window. The watchdog must have stopped, because it writes to the window. */
static void close_window(struct waiter *w)
{
    struct startup_watchdog startup;
    struct error e;
    startup_watchdog_begin(&startup, "closing the shared memory of this node", w->deadline_s, &e);
    MPI_Win_free(&w->window);
    startup_watchdog_end(&startup);
}

void waiter_close(struct waiter *w)
{
    call_check_close(w->check);
    w->check = NULL;
    watchdog_stop(w->watchdog);
    w->watchdog = NULL;
    if (w->window != MPI_WIN_NULL)
        close_window(w);
    w->presence = NULL;
    if (w->node != MPI_GROUP_NULL)
        MPI_Group_free(&w->node);
    free(w->world_ranks);
    free(w->processes);
    w->world_ranks = w->processes = NULL;
}

/* ---- A wait ---- */

bool waiter_blocks(const struct waiter *w)
{
    return w->kind == WAIT_BLOCK && w->serve == NULL;
}

/* Sets alive_ns of this rank. Relaxed order is sufficient, because no other data depends on this
 * time. */
static void give_sign_of_life(struct waiter *w, int64_t now_ns)
{
    atomic_store_explicit(&w->presence[w->node_rank].alive_ns, now_ns, memory_order_relaxed);
}

static void arrive(struct waiter *w, const char *operation, int64_t slack_ns)
{
    w->operation = operation;
    w->sequence++;
    w->presence[w->node_rank].sequence = w->sequence;
    w->deadline_ns = w->deadline_s > 0 ? clock_ns() + (int64_t)(w->deadline_s * 1e9) : INT64_MAX;
    if (w->watchdog != NULL)
        watchdog_arm(w->watchdog, w->deadline_ns + slack_ns);
}

void wait_enter(struct waiter *w, const char *operation)
{
    arrive(w, operation, waiter_blocks(w) ? 0 : SLACK_NS);
}

void wait_enter_polling(struct waiter *w, const char *operation)
{
    arrive(w, operation, SLACK_NS);
}

void wait_allow(struct waiter *w, int64_t more_ns)
{
    if (w->deadline_s <= 0)
        return;
    w->deadline_ns += more_ns;
    if (w->watchdog != NULL)
        watchdog_arm(w->watchdog, w->deadline_ns + SLACK_NS);
}

void wait_leave(struct waiter *w)
{
    if (w->watchdog != NULL)
        watchdog_disarm(w->watchdog);
}

void blocking_call_begin(struct waiter *w, const char *operation)
{
    arrive(w, operation, 0);
}

void blocking_call_end(struct waiter *w)
{
    wait_leave(w);
}

enum status wait_check_deadline(struct waiter *w, struct error *e)
{
    char text[512];
    int64_t now_ns = clock_ns();
    give_sign_of_life(w, now_ns);
    if (now_ns <= w->deadline_ns)
        return OK;
    describe_timeout(w, text, sizeof text);
    return error_set(e, ERR_TIMEOUT, "%s", text);
}

enum status wait_pause(struct waiter *w, struct error *e)
{
    if (w->serve != NULL)
        w->serve(w->serve_arg);
    if (w->kind == WAIT_YIELD)
        sched_yield();
    return wait_check_deadline(w, e);
}

void waiter_count(struct waiter *w, size_t bytes)
{
    w->calls++;
    w->bytes_payload += bytes;
}
