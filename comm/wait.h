/* Waiting for other ranks. No other file of this project calls a blocking MPI function once the
 * ranks have started: here a wait has a deadline, a policy and a name. */
#ifndef SCALEBENCH_COMM_WAIT_H
#define SCALEBENCH_COMM_WAIT_H

#include <mpi.h>
#include <stdint.h>

#include "kernels/base/error.h"

enum wait_kind {
    WAIT_BLOCK, /* the rank owns its core: the library's own call, watched by a watchdog thread */
    WAIT_POLL,  /* test in a loop */
    WAIT_YIELD, /* test and yield: more ranks than cores */
};

struct wait_policy {
    enum wait_kind kind;
    double deadline_s; /* <= 0: none */
    /* A table shared by the ranks of a node, one word a rank, where each notes the sequence number
     * of its last wait: whoever lags is named when a deadline passes. NULL: none. */
    volatile uint64_t *arrivals;
    int rank, ranks;
};

/* Starts and stops the watchdog thread that guards blocking calls: after a deadline it writes which
 * wait (sequence number, operation) and which ranks lag to standard error and ends the process with
 * status 3 of the MPI job. One a process. */
enum status watchdog_start(struct error *e);
void watchdog_stop(void);

/* Sums `values` over comm in place. Never returns before every rank has entered. */
enum status wait_allreduce(const struct wait_policy *w, void *values, int count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, const char *operation, int64_t *poll_ns,
                           struct error *e);
enum status wait_bcast(const struct wait_policy *w, void *values, int count, MPI_Datatype type,
                       int root, MPI_Comm comm, const char *operation, struct error *e);
enum status wait_gather(const struct wait_policy *w, const void *mine, int bytes, void *all,
                        int root, MPI_Comm comm, const char *operation, struct error *e);
enum status wait_barrier(const struct wait_policy *w, MPI_Comm comm, const char *operation,
                         struct error *e);

/* Completes n requests. */
enum status comm_wait(const struct wait_policy *w, MPI_Request *requests, int n,
                      const char *operation, int64_t *poll_ns, struct error *e);

#endif
