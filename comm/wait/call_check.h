/* Check mode: before each collective the ranks of its communicator tell each other what they are
 * about to do, and learn whether all are about to do the same. Ranks that disagree about order,
 * kind, size or type of a collective would otherwise hang, or add up what does not belong together.
 * Where a rank must not wait (pending_begin_at_once) the lines are sent in the same way, and compared
 * before the rank waits for the collective itself. Messages between two ranks: message_check.h.
 * Costs a small collective for each: not for timing. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/wait/message_check.h"
#include "kernels/base/error.h"

/* A collective as its caller sees it. */
struct call {
    const char *kind;      /* "allreduce" */
    const char *operation; /* what it is for */
    size_t count;
    MPI_Datatype type;
    int root; /* -1: there is none */
};

/* What a rank says of its call. */
struct call_line {
    int32_t world_rank, root;
    uint64_t count;
    char kind[16], type[32], operation[96];
};

enum { CALL_VERDICT_BYTES = 768 };

/* A collective that ranks are comparing. */
struct call_ticket;

struct call_check {
    int key; /* of the attribute that counts a communicator's collectives */
    struct message_check messages;
};

/* Waits for one request, with a deadline: what wait.c gives. */
typedef enum status call_wait(void *arg, MPI_Request *request, struct error *e);

enum status call_check_open(struct call_check **check, struct error *e);
void call_check_close(struct call_check *check);

/* Collective over comm, without waiting: tells what this rank is about to do. */
enum status call_check_start(struct call_check *check, const struct call *call, MPI_Comm comm,
                             struct call_ticket **ticket, struct error *e);
/* Whether all have told, and the same; *ticket is NULL from then on. */
bool call_check_test(struct call_ticket **ticket);
/* Waits for it, if there still is a ticket. ERR_MPI, naming the number of the collective, the ranks
 * and what each was about to do, unless all agree. */
enum status call_check_finish(struct call_ticket **ticket, call_wait *wait, void *arg,
                              struct error *e);
