/* Waiting for other ranks. After start-up, only comm/wait makes blocking MPI calls. The exception
 * is creating and freeing shared objects, within blocking_call_begin and blocking_call_end. Every
 * wait has a deadline, a policy, a name (its operation) and a sequence number.
 *
 * The first word of a function states how it treats time:
 *
 *   wait_...           returns when the named event has happened, or with ERR_TIMEOUT
 *   pending_...        a sum over ranks: pending_begin starts it, pending_test tests it while the
 *                      rank computes, pending_wait waits for it
 *   message_...        a message between two ranks: message_begin_send and _receive, message_test,
 *                      message_wait
 *   blocking_call_...  around MPI calls that wait and cannot be tested
 *   waiter_...         sets up how this rank waits and counts the cost of its waits; only open and
 *                      close wait
 *
 * Before ranks share a waiter, startup_watchdog.h gives the deadline. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/wait/call_check.h"
#include "comm/wait/watchdog.h"
#include "kernels/base/error.h"
#include "kernels/base/timeline.h"

enum wait_kind {
    WAIT_BLOCK, /* the rank owns its core: blocking MPI calls */
    WAIT_POLL,  /* tests in a loop */
    WAIT_YIELD, /* tests and yields, also inside MPI (progress.h): more ranks than cores */
};

/* State of a rank that other ranks of its node can read, on a cache line of its own. */
struct presence {
    _Atomic uint64_t sequence; /* sequence number of its last wait */
    _Atomic int64_t alive_ns;  /* time at which the waiting rank or its watchdog last ran */
    char rest[48];
};

/* Wait policy of this rank and the cost of its waits. waiter_open sets it up; one thread at a
 * time passes it to calls. The watchdog's thread reads only atomic members and members that
 * never change. */
struct waiter {
    enum wait_kind kind;
    double deadline_s;         /* deadline of each wait; <= 0: none */
    size_t message_most;       /* largest message in bytes that MPI accepts: INT_MAX before MPI 4 */
    struct watchdog *watchdog; /* ends the process if a rank exceeds the deadline inside MPI */
    struct call_check *check;  /* NULL: calls are not compared */

    /* [node_ranks] in shared memory. Shows which ranks lag when a deadline passes. */
    struct presence *presence;
    int node_rank, node_ranks;
    /* [node_ranks] world ranks and process ids of this node's ranks, for messages */
    int *world_ranks, *processes;
    MPI_Group node; /* the ranks of this node */
    MPI_Win window;

    /* Work for other ranks, called repeatedly during every wait; NULL: none. Set on all ranks or
     * on none. It must not wait. With it WAIT_BLOCK tests in a loop too, because a rank inside
     * MPI cannot serve. */
    void (*serve)(void *arg);
    void *serve_arg;
    /* Ranks pass through different numbers of waits, so a smaller number does not mean that a
     * rank is late. */
    _Atomic bool free_running;
    /* Time (clock_ns) at which ranks last synchronised, if their steps are independent as with
     * an asynchronous server. Since then ranks may have drifted apart by as much as the time
     * that has passed, which barriers add to their deadline. 0: steps synchronise ranks. Set on
     * all ranks or on none. */
    int64_t alone_since_ns;

    _Atomic uint64_t sequence;     /* number of waits so far */
    const char *_Atomic operation; /* operation of the last wait */
    int64_t deadline_ns;
    uint64_t calls, bytes_payload;       /* MPI calls, and bytes passed to them */
    uint64_t served_calls, served_bytes; /* part of calls and bytes_payload that serve caused */
    /* messages between two ranks; messages inside collectives are not counted */
    uint64_t messages_sent, bytes_sent;
    int64_t poll_ns; /* time spent testing and yielding */
    struct timeline
        *timeline; /* borrowed; records pending sums and similar intervals; NULL: none */
};

/* ---- How this rank waits ---- */

/* Sets up *w for the ranks of comm and starts the watchdog if there is a deadline. Collective
 * over comm. */
enum status waiter_open(struct waiter *w, enum wait_kind kind, double deadline_s, MPI_Comm comm,
                        struct error *e);
/* Frees the waiter's resources. Collective. */
void waiter_close(struct waiter *w);

/* Turns check mode on. Before each collective, ranks then compare their calls (call_check.h);
 * receivers compare messages with their expectation (message_check.h). Ranks that disagree get
 * ERR_MPI; of a message, the receiver gets it. */
enum status waiter_check_calls(struct waiter *w, struct error *e);

/* Returns whether waits are blocking MPI calls, such as MPI_Allreduce instead of MPI_Iallreduce.
 * False if a rank serves others while it waits. */
bool waiter_blocks(const struct waiter *w);

/* Counts an MPI call that the caller makes itself. */
void waiter_count(struct waiter *w, size_t bytes);

/* ---- Collectives ---- */

/* Sums `count` values over comm in place. ERR_TIMEOUT names the operation, the sequence number
 * and the lagging ranks of this node. Under WAIT_BLOCK the watchdog ends the process with the
 * same message. */
enum status wait_allreduce(struct waiter *w, void *values, size_t count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, const char *operation, struct error *e);

/* Copies the root's `count` values to every rank. */
enum status wait_bcast(struct waiter *w, void *values, size_t count, MPI_Datatype type, int root,
                       MPI_Comm comm, const char *operation, struct error *e);

/* Gathers `bytes` from every rank at the root, in all [ranks][bytes]. */
enum status wait_gather(struct waiter *w, const void *mine, size_t bytes, void *all, int root,
                        MPI_Comm comm, const char *operation, struct error *e);

/* Sums `count` values over comm at the root, in place. Values of other ranks stay unchanged. */
enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e);

/* Sends the i-th `bytes` of the root's all [ranks][bytes] to rank i. */
enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e);

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e);

/* Duplicates comm as *copy, which the caller frees; MPI_COMM_NULL on error. Collective. */
enum status wait_comm_dup(struct waiter *w, MPI_Comm comm, MPI_Comm *copy, const char *operation,
                          struct error *e);

/* Mark the start and end of blocking MPI calls that all ranks make and that have no non-blocking
 * form: for windows, files, some communicators. If a rank stays away beyond the deadline, the
 * watchdog ends the process with the usual message of a wait. */
void blocking_call_begin(struct waiter *w, const char *operation);
void blocking_call_end(struct waiter *w);

/* ---- Pending sums ---- */

/* A sum over ranks that starts now and is waited for later. The caller sets the members down to
 * `operation`. Ranks must begin the pending sums of a communicator in the same order. */
struct pending {
    void *values; /* [count], summed in place; borrowed until the sum is complete */
    size_t count; /* at most INT_MAX */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    const char *operation;

    bool active;      /* begun, and not known to be complete */
    int64_t begin_ns; /* start of the sum, if there is a timeline */
    MPI_Request request;
    int code;                   /* result of the last MPI call */
    struct call_ticket *ticket; /* NULL unless calls are compared */
};

/* Begins the sum and counts it. In check mode it first compares the call with other ranks and
 * may wait. */
enum status pending_begin(struct waiter *w, struct pending *p, struct error *e);

/* Begins the sum without waiting, also in check mode: pending_test or pending_wait then compare
 * calls. pending_wait reports errors. */
void pending_begin_at_once(struct waiter *w, struct pending *p);

/* Returns whether the sum is complete, without waiting. */
bool pending_test(struct waiter *w, struct pending *p);

/* Waits for the sum. For an inactive sum it returns at once, but counts as a wait in the
 * sequence. */
enum status pending_wait(struct waiter *w, struct pending *p, struct error *e);

/* ---- Messages between two ranks ---- */

/* A message to or from one rank. */
struct message {
    void *data; /* borrowed; only read by sends */
    size_t bytes;
    int rank;
    MPI_Request request;       /* request of the message itself */
    struct message_note *note; /* note about the message; NULL unless calls are compared */
    int code;                  /* result of tests; an error stays */
};

/* Sends or receives n messages that are in transit together. Returns when all have arrived or
 * left. Every rank must pass through the same number of these waits, with n = 0 if it has no
 * message: the sequence number shows which rank lags. */
enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e);
enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e);

/* Messages in both directions at the same time. */
struct exchange {
    struct message *sends, *receives;
    int n_sends, n_receives;
    MPI_Comm comm;
    const char *operation;
    /* Called for each of receives in order, once it has arrived and the send of the same number
     * has left. Later messages may still be in transit. NULL: no call. */
    void (*arrived)(void *arg, int i);
    void *arg;
};

/* Sends and receives all messages; returns when all have arrived and left. All ranks must pass
 * through the same number of these waits. */
enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e);

/* Begins the messages of an exchange and counts them, without waiting. *x must not move until
 * they are complete. */
enum status message_begin_exchange(struct waiter *w, const struct exchange *x, struct error *e);
/* Returns MPI's error code; *done: whether all messages of the exchange have arrived and left.
 * Does not wait. */
int message_test_exchange(struct waiter *w, const struct exchange *x, bool *done);
/* Waits for an exchange that was begun, even if it is complete, since ranks must pass through
 * equally many waits. code: result of message_test_exchange. */
enum status wait_begun_exchange(struct waiter *w, const struct exchange *x, int code,
                                struct error *e);

/* Begin n messages and count them, without waiting. Return MPI's error code, or MPI_ERR_COUNT
 * for a message above w->message_most. Sender and receiver must name the same operation. */
int message_begin_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                       const char *operation);
int message_begin_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                          const char *operation);

/* Tests one message without waiting and returns MPI's error code. *done is also true if the
 * message was complete before or never begun (MPI_REQUEST_NULL). message_wait reports the same
 * error. */
int message_test(struct waiter *w, struct message *message, bool *done);

/* Returns the status for a code of message_test or message_begin functions. ERR_ARGUMENT: a
 * message is too long. ERR_MPI: the message of check mode if there is one, otherwise MPI's text. */
enum status message_status(const struct waiter *w, int code, const char *operation,
                           struct error *e);

/* Waits until a message that was begun is complete. */
enum status message_wait(struct waiter *w, struct message *message, const char *operation,
                         struct error *e);

/* Cancels a receive for which no message will arrive. Call it after an error, before the memory
 * of the message is freed. */
void message_cancel(struct waiter *w, struct message *message);
/* Waits until a send has left, at most until the deadline, because MPI cannot cancel sends. */
void message_let_leave(struct waiter *w, struct message *message, const char *operation);

/* ---- Other waits ---- */

/* Counts and completes n requests of one operation that the caller has started, `bytes` in
 * total. code: result of the calls that started them. */
enum status wait_requests(struct waiter *w, int code, MPI_Request *requests, int n, size_t bytes,
                          const char *operation, struct error *e);

/* Waits until `done` returns true. Calls in `done` must not wait; they let MPI's messages
 * progress. */
enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e);

/* Progress of a rank, in memory shared by the ranks of a node, on a cache line of its own. */
struct flag {
    _Atomic uint64_t value;
    char rest[56];
};

/* Sets the flag to `value`. A rank that reads the value also sees all earlier writes of this
 * rank. */
void flag_raise(struct flag *flag, uint64_t value);

/* Waits until all of flags [n] have reached `value`. Tests memory only, but lets MPI messages
 * over comm progress from time to time. */
enum status wait_flags(struct waiter *w, struct flag *const *flags, int n, uint64_t value,
                       MPI_Comm comm, const char *operation, struct error *e);
