/* Waiting for other ranks. Once the ranks have started, no file of this project outside comm/wait
 * makes a blocking MPI call, but for those that create and free what ranks share, inside
 * blocking_call_begin and blocking_call_end: every wait has a deadline, a policy, a name (its
 * operation) and a sequence number.
 *
 * The first word of a function says what it does with time:
 *
 *   wait_...           returns when what it names has happened, or with ERR_TIMEOUT
 *   pending_...        a sum over ranks that begins (pending_begin), may be tested while the rank
 *                      computes (pending_test) and is waited for later (pending_wait)
 *   message_...        the same for messages between two ranks: message_begin_send and _receive,
 *                      message_test, message_wait
 *   blocking_call_...  around calls of the library that wait and cannot be tested
 *   waiter_...         sets up how this rank waits and counts what its waits cost; never waits,
 *                      but to open and to close
 *
 * Where ranks do not share a waiter yet, a startup_watchdog (startup_watchdog.h) gives the
 * deadline. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/wait/call_check.h"
#include "comm/wait/watchdog.h"
#include "kernels/base/error.h"
#include "kernels/base/timeline.h"

enum wait_kind {
    WAIT_BLOCK, /* the rank owns its core: the library's own call */
    WAIT_POLL,  /* test in a loop */
    WAIT_YIELD, /* test and yield, also inside the library (progress.h): more ranks than cores */
};

/* What a rank shows the other ranks of its node, on a cache line of its own. */
struct presence {
    _Atomic uint64_t sequence; /* of its last wait */
    _Atomic int64_t alive_ns;  /* its last sign of life while waiting, the watchdog's as well */
    char rest[48];
};

/* How this rank waits, and what its waits have cost. Set up by waiter_open, then passed to every
 * call, by one thread at a time. The watchdog's thread reads only atomic members and members that
 * never change. */
struct waiter {
    enum wait_kind kind;
    double deadline_s;   /* <= 0: none */
    size_t message_most; /* bytes that the library takes in a message: an int's before MPI 4 */
    struct watchdog *watchdog; /* ends the process where a rank inside the library cannot */
    struct call_check *check;  /* NULL: calls are not compared */

    /* [node_ranks], in memory that the ranks of a node share: shows which ranks lag when a deadline
     * passes. */
    struct presence *presence;
    int node_rank, node_ranks;
    int *world_ranks, *processes; /* of the node's ranks, for messages */
    MPI_Group node;               /* those ranks */
    MPI_Win window;

    /* What this rank does for other ranks during every wait, or NULL: set on all ranks or on none.
     * It makes no call that waits. WAIT_BLOCK then tests in a loop too, since a rank inside the
     * library serves nobody. */
    void (*serve)(void *arg);
    void *serve_arg;
    /* Ranks pass through different numbers of waits: a smaller number does not make a rank late. */
    _Atomic bool free_running;
    /* When ranks last met (clock_ns), where their steps do not tie them, as those of an asynchronous server: a rank
     * may come to a meeting of all as much later than another as they have gone alone, which is added to the
     * deadline of barriers. 0: steps tie them. Set on all ranks or on none. */
    int64_t alone_since_ns;

    _Atomic uint64_t sequence;     /* waits so far */
    const char *_Atomic operation; /* of the last one */
    int64_t deadline_ns;
    uint64_t calls, bytes_payload;       /* at the MPI boundary */
    uint64_t served_calls, served_bytes; /* of these, for other ranks: by serve */
    uint64_t messages_sent, bytes_sent;  /* between two ranks; those of collectives are not known */
    int64_t poll_ns;                     /* spent testing and yielding */
    struct timeline
        *timeline; /* borrowed: where pending sums and their like are kept; NULL: nowhere */
};

/* ---- How this rank waits ---- */

/* Collective over comm. Starts the watchdog when there is a deadline. */
enum status waiter_open(struct waiter *w, enum wait_kind kind, double deadline_s, MPI_Comm comm,
                        struct error *e);
/* Collective. */
void waiter_close(struct waiter *w);

/* From now on ranks compare what they are about to do before each collective (call_check.h), and
 * sender and receiver of a message what they expect (message_check.h). Ranks that disagree get
 * ERR_MPI, of two the receiver. */
enum status waiter_check_calls(struct waiter *w, struct error *e);

/* Whether waits are blocking calls of the library, MPI_Allreduce in place of MPI_Iallreduce: not where a rank serves
 * others meanwhile. */
bool waiter_blocks(const struct waiter *w);

/* Counts a call that the caller makes itself. */
void waiter_count(struct waiter *w, size_t bytes);

/* ---- Collectives ---- */

/* Sums `count` values over comm in place. ERR_TIMEOUT names operation, sequence number and the
 * ranks of this node that lag; under WAIT_BLOCK the watchdog ends the process with the same
 * message. */
enum status wait_allreduce(struct waiter *w, void *values, size_t count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, const char *operation, struct error *e);

/* Gives every rank the root's values. */
enum status wait_bcast(struct waiter *w, void *values, size_t count, MPI_Datatype type, int root,
                       MPI_Comm comm, const char *operation, struct error *e);

/* Collects `bytes` of every rank at the root: all [ranks][bytes]. */
enum status wait_gather(struct waiter *w, const void *mine, size_t bytes, void *all, int root,
                        MPI_Comm comm, const char *operation, struct error *e);

/* Sums `count` values over comm at the root, in place; those of the other ranks stay as they are. */
enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e);

/* Hands rank i the i-th `bytes` of the root's all [ranks][bytes]. */
enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e);

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e);

/* Collective: *copy has comm's ranks and messages of its own; freed by the caller, MPI_COMM_NULL on
 * error. */
enum status wait_comm_dup(struct waiter *w, MPI_Comm comm, MPI_Comm *copy, const char *operation,
                          struct error *e);

/* Around blocking calls of the library that all ranks make and that have no non-blocking form:
 * windows, files, some communicators. Where a rank stays away beyond the deadline the watchdog ends
 * the process with the message of any wait. */
void blocking_call_begin(struct waiter *w, const char *operation);
void blocking_call_end(struct waiter *w);

/* ---- Pending sums ---- */

/* A sum over ranks that is begun now and waited for later. The caller sets the first part; ranks
 * begin the pending sums of a communicator in the same order. */
struct pending {
    void *values; /* [count], summed in place; borrowed until it is complete */
    size_t count; /* at most INT_MAX */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    const char *operation;

    bool active;      /* begun, and not known to be complete */
    int64_t begin_ns; /* where there is a timeline */
    MPI_Request request;
    int code;                   /* that the library's last call returned */
    struct call_ticket *ticket; /* NULL where calls are not compared */
};

/* Begins the sum and counts it. Where calls are compared this one is, before it begins: the rank
 * may wait then. */
enum status pending_begin(struct waiter *w, struct pending *p, struct error *e);

/* The same where the rank must not wait: calls are compared before pending_test or pending_wait look
 * at the sum. What goes wrong shows in pending_wait. */
void pending_begin_at_once(struct waiter *w, struct pending *p);

/* Whether the sum is complete, without waiting. */
bool pending_test(struct waiter *w, struct pending *p);

/* Waits for the sum; nothing is left to wait for when it is not active, but the wait counts in the
 * sequence. */
enum status pending_wait(struct waiter *w, struct pending *p, struct error *e);

/* ---- Messages between two ranks ---- */

/* A message to or from one rank. */
struct message {
    void *data; /* borrowed; only read when it is sent */
    size_t bytes;
    int rank;
    MPI_Request request;       /* of the call that it is passed to */
    struct message_note *note; /* the same; NULL where calls are not compared */
    int code;                  /* what a test of it has found: once wrong, it stays so */
};

/* Sends or receives n messages that are on their way together; returns when all have arrived, or
 * have left. Where ranks take different parts in a pattern, each must pass through as many of these
 * waits as the others, with n = 0 if need be: the sequence number shows which rank lags. */
enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e);
enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e);

/* Messages that go both ways at the same time. */
struct exchange {
    struct message *sends, *receives;
    int n_sends, n_receives;
    MPI_Comm comm;
    const char *operation;
    /* Called for each of receives in their order, once it has come and the send of the same number
     * has gone, while later ones are on their way; or NULL. */
    void (*arrived)(void *arg, int i);
    void *arg;
};

/* Returns when all have arrived and all have left. As with wait_send and wait_receive, all ranks
 * pass through the same number of these waits. */
enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e);

/* The same in parts. Begins the messages, and counts them, without waiting: *x stays where it is until they are
 * complete. */
enum status message_begin_exchange(struct waiter *w, const struct exchange *x, struct error *e);
/* Whether all have arrived and left, without waiting; MPI's code. */
int message_test_exchange(struct waiter *w, const struct exchange *x, bool *done);
/* Waits for them, also where they are complete: ranks pass through as many waits. `code`: what tests returned. */
enum status wait_begun_exchange(struct waiter *w, const struct exchange *x, int code,
                                struct error *e);

/* Begins n messages, and counts them, without waiting; returns MPI's code, MPI_ERR_COUNT for one that
 * is longer than a call of the library takes. Sender and receiver name the same operation. */
int message_begin_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                       const char *operation);
int message_begin_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                          const char *operation);

/* Whether a message that was begun is complete, without waiting; a message that was complete before,
 * or never begun (MPI_REQUEST_NULL), is. MPI's code, which message_wait finds as well. */
int message_test(struct waiter *w, struct message *message, bool *done);

/* The status for a code of these three: OK, or ERR_ARGUMENT for a message that is too long, or ERR_MPI
 * with what was found out about one, or with MPI's own words. */
enum status message_status(const struct waiter *w, int code, const char *operation,
                           struct error *e);

/* Waits until a message that was begun is complete. */
enum status message_wait(struct waiter *w, struct message *message, const char *operation,
                         struct error *e);

/* On the way out after an error, before the memory of messages that were begun is given back. Gives up a
 * receive for which no message will come. */
void message_cancel(struct waiter *w, struct message *message);
/* Waits until a send has left, until the deadline at most: MPI cannot take it back. */
void message_let_leave(struct waiter *w, struct message *message, const char *operation);

/* ---- Other waits ---- */

/* Counts and completes n requests of one operation that the caller has started itself, `bytes` in
 * all; `code` is what starting them returned. */
enum status wait_requests(struct waiter *w, int code, MPI_Request *requests, int n, size_t bytes,
                          const char *operation, struct error *e);

/* Waits until `done` returns true; its own calls, none of which waits, let the library's messages
 * progress. */
enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e);

/* How far a rank has come, in memory that the ranks of a node share, on a cache line of its own. */
struct flag {
    _Atomic uint64_t value;
    char rest[56];
};

/* A rank that sees the value also sees everything that was written before. */
void flag_raise(struct flag *flag, uint64_t value);

/* Waits until all of flags [n] have reached `value`; no MPI call, but the library's messages over
 * comm progress. */
enum status wait_flags(struct waiter *w, struct flag *const *flags, int n, uint64_t value,
                       MPI_Comm comm, const char *operation, struct error *e);
