/* Waiting for other ranks. After start-up, only comm/wait makes blocking MPI calls, except between
 * blocking_call_begin and blocking_call_end. Every wait has a deadline, a policy, a name (its
 * operation) and a sequence number.
 *
 * The prefix of a function shows whether it waits:
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
 * Before waiter_open and after waiter_close, startup_watchdog.h sets the deadline. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/wait/call_check.h"
#include "comm/wait/watchdog.h"
#include "kernels/base/error.h"
#include "kernels/base/timeline.h"

enum wait_kind {
    WAIT_BLOCK, /* blocking MPI calls, for a rank that has a core to itself */
    WAIT_POLL,  /* tests in a loop without yielding */
    WAIT_YIELD, /* yields the core between tests and inside MPI calls (progress.h); for more ranks
                   than cores */
};

/* State of a rank, in memory shared by the ranks of its node. Padded to a cache line. */
struct presence {
    _Atomic uint64_t sequence; /* sequence number of the latest wait that the rank has entered */
    /* latest time (clock_ns) at which the rank polled MPI during a wait, or at which its watchdog
     * checked the deadline */
    _Atomic int64_t alive_ns;
    char rest[48];
};

/* Settings, state and cost of this rank's waits, set up by waiter_open. Only one thread at a time
 * may use a waiter. The watchdog's thread reads only atomic and constant members. */
struct waiter {
    enum wait_kind kind;
    double deadline_s;   /* longest accepted wait in seconds; <= 0: no limit */
    size_t message_most; /* largest message size that MPI accepts (bytes); INT_MAX before MPI 4 */
    /* ends the process if a wait inside MPI exceeds the deadline; NULL: none */
    struct watchdog *watchdog;
    struct call_check *check; /* state of check mode; NULL: calls are not compared */

    /* [node_ranks] state of each rank, in shared memory; shows the late ranks when a deadline
     * passes */
    struct presence *presence;
    int node_rank, node_ranks;
    /* [node_ranks] world rank and process id of each rank on this node, for error messages */
    int *world_ranks, *processes;
    MPI_Group node; /* ranks of waiter_open's communicator that are on this node */
    MPI_Win window;

    /* Serves other ranks; used by parameter servers. Called repeatedly during every wait, and must
     * not wait itself. NULL: no rank serves. Set on all ranks or on none. If set, WAIT_BLOCK also
     * tests in a loop, because a rank blocked inside MPI cannot serve. */
    void (*serve)(void *arg);
    void *serve_arg;
    /* Whether ranks make different numbers of waits. If so, a rank with a smaller sequence number
     * is not necessarily late. */
    _Atomic bool free_running;
    /* Time (clock_ns) when ranks last synchronised, if their steps are independent (asynchronous
     * server); 0: every step synchronises. Barriers extend their deadline by the time since then.
     * Set on all ranks or on none. */
    int64_t alone_since_ns;

    _Atomic uint64_t sequence;     /* number of waits begun so far */
    const char *_Atomic operation; /* purpose of the last wait, for error messages */
    int64_t deadline_ns;
    uint64_t calls, bytes_payload; /* number of MPI communication calls; bytes passed to them */
    /* calls made by `serve` and their bytes; included in calls and bytes_payload */
    uint64_t served_calls, served_bytes;
    /* point-to-point messages sent, and their bytes; messages inside MPI collectives are not
     * counted */
    uint64_t messages_sent, bytes_sent;
    int64_t poll_ns;           /* total time spent testing for completion, calling `serve` and
                                  yielding (ns) */
    struct timeline *timeline; /* borrowed; records the activities of this rank; NULL: none */
};

/* ---- How this rank waits ---- */

/* Sets up *w for the ranks of comm. If deadline_s > 0, starts the watchdog. Collective over
 * comm. */
enum status waiter_open(struct waiter *w, enum wait_kind kind, double deadline_s, MPI_Comm comm,
                        struct error *e);
/* Frees the waiter's resources. Collective. */
void waiter_close(struct waiter *w);

/* Turns check mode on: ranks compare collectives (call_check.h) and messages (message_check.h). If
 * collectives differ, all ranks get ERR_MPI. If a receiver gets an unexpected message, it alone
 * gets ERR_MPI. */
enum status waiter_check_calls(struct waiter *w, struct error *e);

/* Returns whether this rank waits by blocking MPI calls, such as MPI_Allreduce, instead of testing
 * non-blocking calls. False if `serve` is set. */
bool waiter_blocks(const struct waiter *w);

/* Adds one MPI call to w->calls and its `bytes` bytes to w->bytes_payload. */
void waiter_count(struct waiter *w, size_t bytes);

/* ---- Collectives ---- */

/* Combines `count` values over comm by `op`, in place. ERR_TIMEOUT after the deadline, with a
 * message that names the operation, its sequence number and the late ranks of this node. If
 * waiter_blocks(w), the watchdog ends the process with the same message instead. */
enum status wait_allreduce(struct waiter *w, void *values, size_t count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, const char *operation, struct error *e);

/* Broadcasts `count` values from rank `root`. */
enum status wait_bcast(struct waiter *w, void *values, size_t count, MPI_Datatype type, int root,
                       MPI_Comm comm, const char *operation, struct error *e);

/* Gathers `mine` [bytes] of every rank in `all` [ranks][bytes] at the root. */
enum status wait_gather(struct waiter *w, const void *mine, size_t bytes, void *all, int root,
                        MPI_Comm comm, const char *operation, struct error *e);

/* Combines `count` values over comm by `op`; the result replaces the root's values. Values on other
 * ranks stay unchanged. */
enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e);

/* Scatters `all` [ranks][bytes] of the root: rank i receives all[i] in `mine` [bytes]. */
enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e);

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e);

/* Duplicates comm. The caller frees *copy; it is MPI_COMM_NULL after an error. Collective. */
enum status wait_comm_dup(struct waiter *w, MPI_Comm comm, MPI_Comm *copy, const char *operation,
                          struct error *e);

/* Mark the start and end of a collective MPI call that blocks and cannot be tested, such as
 * creating a window. After the deadline, the watchdog ends this process with the message of a
 * timed-out wait. */
void blocking_call_begin(struct waiter *w, const char *operation);
void blocking_call_end(struct waiter *w);

/* ---- Pending sums ---- */

/* A sum over ranks that is started now and waited for later. The caller sets the members up to
 * `operation`. Every rank must start the pending sums of a communicator in the same order. */
struct pending {
    void *values; /* [count], summed in place; borrowed until the sum is complete */
    size_t count; /* number of values, at most INT_MAX */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    const char *operation;

    bool active;      /* whether the sum was started and is not known to be complete */
    int64_t begin_ns; /* time when the sum was started, for the timeline */
    MPI_Request request;
    int code; /* MPI error code of the call that started or last tested the sum */
    /* unfinished comparison of this sum with the calls of other ranks (check mode); NULL: none */
    struct call_ticket *ticket;
};

/* Starts the sum and adds its MPI call and bytes to the counters of `w`. In check mode, first waits
 * for the calls of the other ranks and compares the calls. */
enum status pending_begin(struct waiter *w, struct pending *p, struct error *e);

/* Starts the sum without waiting. In check mode, pending_test or pending_wait later compares this
 * call with the calls of the other ranks. pending_wait reports errors. */
void pending_begin_at_once(struct waiter *w, struct pending *p);

/* Returns, without waiting, whether the sum is complete or was never started. After an error,
 * returns false; pending_wait reports the error. */
bool pending_test(struct waiter *w, struct pending *p);

/* Waits for the sum. If the sum was not started or has already been found complete, returns at
 * once, but still increments the sequence number of waits. */
enum status pending_wait(struct waiter *w, struct pending *p, struct error *e);

/* ---- Messages between two ranks ---- */

/* A message to or from rank `rank` of a communicator. */
struct message {
    void *data; /* content of the message, borrowed; a send only reads it */
    size_t bytes;
    int rank;
    MPI_Request request; /* request for `data`; `note` has a request of its own */
    /* description of the message (message_check.h); NULL unless in check mode */
    struct message_note *note;
    int code; /* MPI error code of message_test; later calls for this message report it again */
};

/* Send or receive n messages at the same time; return when all are complete. Unless w->free_running
 * is set, every rank must make the same number of waits, since timeout errors name ranks with fewer
 * waits as late. A rank without messages passes n = 0. */
enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e);
enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e);

/* Messages sent and received at the same time. */
struct exchange {
    struct message *sends, *receives;
    int n_sends, n_receives;
    MPI_Comm comm;
    const char *operation;
    /* Called as arrived(arg, i), in order of i, once receives[i] is complete, and sends[i] too if i
     * < n_sends. Later messages may still be in transit. NULL: no call. */
    void (*arrived)(void *arg, int i);
    void *arg;
};

/* Sends and receives all messages of `x`; returns when all are complete. Unless w->free_running is
 * set, every rank must make the same number of waits, since timeout errors name ranks with fewer
 * waits as late. */
enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e);

/* Starts the messages of an exchange without waiting, and adds them to the counters of `w`. *x and
 * its messages must remain valid until all messages are complete. */
enum status message_begin_exchange(struct waiter *w, const struct exchange *x, struct error *e);
/* Tests an exchange without waiting. Sets *done to whether all its messages are complete. Returns
 * MPI's error code. */
int message_test_exchange(struct waiter *w, const struct exchange *x, bool *done);
/* Waits for an exchange that was started. Call it even if the exchange is complete, since every
 * rank must make the same number of waits. `code`: result of message_test_exchange. */
enum status wait_begun_exchange(struct waiter *w, const struct exchange *x, int code,
                                struct error *e);

/* Start n messages without waiting, and count them. Return MPI's error code, or MPI_ERR_COUNT for a
 * message longer than w->message_most. Sender and receiver must pass the same `operation`. */
int message_begin_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                       const char *operation);
int message_begin_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                          const char *operation);

/* Tests one message without waiting and returns MPI's error code. *done is also true if the message
 * was never started (MPI_REQUEST_NULL). After an error, message_wait returns the same error. */
int message_test(struct waiter *w, struct message *message, bool *done);

/* Turns the error code of message_test, message_begin_send or message_begin_receive into a status:
 * OK, ERR_ARGUMENT if a message is too long, or ERR_MPI. The text of ERR_MPI is the mismatch
 * between sender and receiver that check mode found, otherwise MPI's text. */
enum status message_status(const struct waiter *w, int code, const char *operation,
                           struct error *e);

/* Waits until a message that was started is complete. */
enum status message_wait(struct waiter *w, struct message *message, const char *operation,
                         struct error *e);

/* Cancels a receive if it is still pending. Call this function before freeing the receive buffer if
 * no message will arrive, for example after an error. */
void message_cancel(struct waiter *w, struct message *message);
/* Waits until a send is complete, at most until the deadline. After an error, call this function
 * before freeing the send buffer, since MPI 4 deprecates cancelling sends. */
void message_let_leave(struct waiter *w, struct message *message, const char *operation);

/* ---- Other waits ---- */

/* Waits for all n requests that the caller has started for one operation, and counts them as one
 * MPI call of `bytes` bytes. code: MPI error code of the calls that started them. */
enum status wait_requests(struct waiter *w, int code, MPI_Request *requests, int n, size_t bytes,
                          const char *operation, struct error *e);

/* Waits until `done` returns true. `done` must not wait; it should make MPI calls that let messages
 * progress. */
enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e);

/* Counter in shared memory by which a rank announces its progress to the other ranks of its node.
 * Padded to a cache line. */
struct flag {
    _Atomic uint64_t value;
    char rest[56];
};

/* Sets the flag to `value`. A rank that reads this value also sees everything that the caller wrote
 * before. */
void flag_raise(struct flag *flag, uint64_t value);

/* Waits until each of `flags` [n] is at least `value`. Sends no messages itself, but lets other MPI
 * messages over comm progress from time to time. */
enum status wait_flags(struct waiter *w, struct flag *const *flags, int n, uint64_t value,
                       MPI_Comm comm, const char *operation, struct error *e);
