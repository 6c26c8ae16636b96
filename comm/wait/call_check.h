/* Check mode for collectives. Before each collective of wait.h except wait_comm_dup, ranks exchange
 * and compare descriptions of the call. A call that must not wait (pending_begin_at_once) starts
 * its collective at once, and pending_test or pending_wait compares the descriptions later. Each
 * check costs a small collective, so do not time runs in check mode. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/wait/message_check.h"
#include "kernels/base/error.h"

/* A call of an MPI collective, to be compared between ranks. */
struct call {
    const char *kind;      /* name of the collective, such as "allreduce" */
    const char *operation; /* purpose of the call, for error messages */
    size_t count;
    MPI_Datatype type;
    int root; /* root rank; -1 if the collective has no root */
};

/* Description of a call, as sent to other ranks. */
struct call_line {
    int32_t world_rank, root;
    uint64_t count;
    char kind[16], type[32], operation[96];
};

enum { CALL_VERDICT_BYTES = 768 };

/* An unfinished comparison of the calls of one collective. */
struct call_ticket;

struct call_check {
    int key; /* key of the MPI attribute that counts the collectives of a communicator */
    struct message_check messages;
};

/* Waits for one request, at most until the deadline. wait.c supplies this function. */
typedef enum status call_wait(void *arg, MPI_Request *request, struct error *e);

enum status call_check_open(struct call_check **check, struct error *e);
void call_check_close(struct call_check *check);

/* Starts the comparison: sends this rank's call to all ranks of comm without waiting. Collective
 * over comm. *ticket is freed by call_check_test or call_check_finish. */
enum status call_check_start(struct call_check *check, const struct call *call, MPI_Comm comm,
                             struct call_ticket **ticket, struct error *e);
/* Returns whether the calls of all ranks have arrived and are equal. If so, frees *ticket and sets
 * it to NULL. If *ticket is NULL, returns true. If calls differ, returns false; call_check_finish
 * then reports the difference. */
bool call_check_test(struct call_ticket **ticket);
/* Waits for the comparison and frees *ticket, which may be NULL. If the wait fails, *ticket is
 * kept, since MPI may still write to it. ERR_MPI if calls differ: the message has the number of the
 * collective and each rank's call. */
enum status call_check_finish(struct call_ticket **ticket, call_wait *wait, void *arg,
                              struct error *e);
