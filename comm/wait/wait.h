/* Waiting for other ranks. No other files of this project than comm/wait*.c call a blocking MPI
 * function once the ranks have started, but for those that make and free what ranks share, which
 * wait_library_begin guards: every wait has a deadline, a policy, a name and a sequence number. */
#ifndef SCALEBENCH_COMM_WAIT_WAIT_H
#define SCALEBENCH_COMM_WAIT_WAIT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/wait/call_check.h"
#include "comm/wait/watchdog.h"
#include "kernels/base/error.h"

enum wait_kind {
    WAIT_BLOCK, /* the rank owns its core: the library's own call */
    WAIT_POLL,  /* test in a loop */
    WAIT_YIELD, /* test and yield: more ranks than cores */
};

/* What a rank lets the others of its node know, on a cache line of its own. */
struct presence {
    _Atomic uint64_t sequence; /* of its last wait */
    _Atomic int64_t alive_ns;  /* its last sign of life while waiting, the watchdog's as well */
    char rest[48];
};

/* How this rank waits, and what its waits have cost. Set up by waiter_open, then passed to every
 * call; one thread at a time. The watchdog's reads what is atomic, and what never changes. */
struct waiter {
    enum wait_kind kind;
    double deadline_s;         /* <= 0: none */
    struct watchdog *watchdog; /* ends the process where a rank that sits in the library cannot */
    struct call_check *check;  /* NULL: nobody compares calls */

    /* [node_ranks], in memory that the ranks of a node share: who lags when a deadline passes. */
    struct presence *presence;
    int node_rank, node_ranks;
    int *world_ranks, *processes; /* of the node's ranks, for messages */
    MPI_Group node;               /* those ranks */
    MPI_Win window;

    /* What this rank does for others while it waits, whatever for, or NULL, on all ranks or on
     * none. It makes no call that waits. Then WAIT_BLOCK tests in a loop as well: nobody serves
     * inside the library. */
    void (*serve)(void *arg);
    void *serve_arg;
    /* Ranks pass through different numbers of waits: none of them is late. */
    _Atomic bool free_running;

    _Atomic uint64_t sequence;     /* waits so far */
    const char *_Atomic operation; /* of the last one */
    int64_t deadline_ns;
    uint64_t calls, bytes_payload;      /* at the MPI boundary */
    uint64_t messages_sent, bytes_sent; /* by wait_send: those of collectives nobody can count */
    int64_t poll_ns;                    /* spent testing and yielding */
};

/* Collective over comm. Starts the watchdog when there is a deadline. */
enum status waiter_open(struct waiter *w, enum wait_kind kind, double deadline_s, MPI_Comm comm,
                        struct error *e);
/* From now on the ranks compare what they are about to do before each collective, call_check.h, and
 * sender and receiver of each message what they mean, message_check.h; `largest` is at least as
 * large as any communicator in use. Ranks that disagree get ERR_MPI, of two the receiver. */
enum status waiter_check_calls(struct waiter *w, MPI_Comm largest, struct error *e);
/* Around calls of the library that all ranks make, that wait for all, and that have no form which
 * could be tested: windows, files, some communicators. Where a rank stays away beyond the deadline
 * the watchdog ends the process with the message of any wait. */
void wait_library_begin(struct waiter *w, const char *operation);
void wait_library_end(struct waiter *w);

/* Collective. */
void waiter_close(struct waiter *w);

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

/* Sums `count` values over comm at the root, in place; the others keep theirs. */
enum status wait_reduce(struct waiter *w, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, const char *operation, struct error *e);

/* Hands rank i the i-th `bytes` of the root's all [ranks][bytes]. */
enum status wait_scatter(struct waiter *w, const void *all, size_t bytes, void *mine, int root,
                         MPI_Comm comm, const char *operation, struct error *e);

/* A message to or from one rank. */
struct message {
    void *data; /* borrowed; only read when it is sent */
    size_t bytes;
    int rank;
    MPI_Request request;       /* of the call that it is passed to */
    struct message_note *note; /* the same; NULL where calls are not compared */
};

/* Sends or receives n messages that are on their way together; returns when all have arrived, or
 * have left. Where ranks take different parts in a pattern, each must pass through as many of these
 * waits as the others, with n = 0 if need be: the sequence number tells who lags. */
enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e);
enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e);

/* Starts n messages, and counts them, without waiting for them; returns MPI's code. Sender and
 * receiver name the same operation. */
int waiter_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                const char *operation);
int waiter_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                   const char *operation);

/* Whether a message that was started has come or gone, without waiting; a message that is of the
 * past, or was never started (MPI_REQUEST_NULL), has. MPI's code. */
int waiter_test(struct waiter *w, struct message *message, bool *done);

/* ERR_MPI for a code of the three above: what was found out about a message, or MPI's own words. */
enum status waiter_failed(const struct waiter *w, int code, const char *operation, struct error *e);

/* Gives up a receive that was started and for which no message will come. */
void waiter_cancel(struct waiter *w, struct message *message);

/* Waits for the rest of a message that was started. */
enum status wait_message(struct waiter *w, struct message *message, const char *operation,
                         struct error *e);

/* Waits until `done` says so; its own calls, none of which waits, let the library's messages
 * progress. */
enum status wait_until(struct waiter *w, bool (*done)(void *arg), void *arg, const char *operation,
                       struct error *e);

/* Messages that go both ways at the same time. */
struct exchange {
    struct message *sends, *receives;
    int n_sends, n_receives;
    MPI_Comm comm;
    const char *operation;
    /* Called for each of receives in their order, once it has come and the send of the same number
     * has gone, while later ones are on their way. NULL: nobody asks. */
    void (*arrived)(void *arg, int i);
    void *arg;
};

/* Returns when all have arrived and all have left. As with the two above, ranks pass through
 * equally many of these. */
enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e);

/* Before a collective that the caller starts and wait_started completes: where calls are compared,
 * this one is; else nothing happens. */
enum status wait_starting(struct waiter *w, const struct call *call, MPI_Comm comm,
                          struct error *e);

/* A collective that is started where ranks may not wait. */
struct started {
    MPI_Request request;
    int code; /* that starting it gave */
    size_t bytes;
    struct call_ticket *ticket; /* NULL where calls are not compared */
};

/* Before it is started: where calls are compared, so is this one, some time later. */
void waiter_starting(struct waiter *w, const struct call *call, MPI_Comm comm, struct started *s);

/* Whether it is complete, and was the same on all ranks; what is wrong shows when it is waited
 * for. */
bool waiter_is_there(struct waiter *w, struct started *s);

/* Waits for it; counts it. */
enum status wait_for_started(struct waiter *w, struct started *s, const char *operation,
                             struct error *e);

/* Completes n requests that the caller has started, `bytes` in all; `started` is the code that
 * starting them gave. */
enum status wait_started(struct waiter *w, int started, MPI_Request *requests, int n, size_t bytes,
                         const char *operation, struct error *e);

/* The same of requests whose calls were counted when they were started, with waiter_count. */
enum status wait_requests(struct waiter *w, int started, MPI_Request *requests, int n,
                          const char *operation, struct error *e);

/* Counts a call that the caller makes itself. */
void waiter_count(struct waiter *w, size_t bytes);

/* How far a rank has come, in memory that the ranks of a node share, on a cache line of its own. */
struct flag {
    _Atomic uint64_t value;
    char rest[56];
};

/* Whoever sees the value sees what was written before. */
void flag_raise(struct flag *flag, uint64_t value);

/* Waits until all of flags [n] have reached `value`; no MPI call, but the library's messages over
 * comm progress. */
enum status wait_flags(struct waiter *w, struct flag *const *flags, int n, uint64_t value,
                       MPI_Comm comm, const char *operation, struct error *e);

enum status wait_barrier(struct waiter *w, MPI_Comm comm, const char *operation, struct error *e);

/* Collective: *copy has comm's ranks and messages of its own; freed by the caller, MPI_COMM_NULL on
 * error. */
enum status wait_comm_dup(struct waiter *w, MPI_Comm comm, MPI_Comm *copy, const char *operation,
                          struct error *e);

#endif
