/* Check mode for messages between two ranks. With each message the sender sends a note that
 * describes it. The receiver compares the note with its own expectation before it uses the
 * message. Without this, a message of another size or of another step of an algorithm could be
 * truncated or mistaken for the expected one. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Description of a message by its sender or its receiver. */
struct message_line {
    int32_t world_rank;
    /* number of the message from this sender to this receiver on its communicator */
    uint64_t number;
    uint64_t bytes;
    char operation[96];
};

/* Note of a message in transit. */
struct message_note {
    struct message_line own, theirs;
    bool receives;
    MPI_Request request;
};

struct message_check {
    int key;           /* key of the attribute that counts a communicator's messages */
    char verdict[768]; /* description of the first mismatch; "": none so far */
};

void message_check_open(struct message_check *c);
void message_check_close(struct message_check *c);

/* Starts the note of a message of `bytes` to or from `rank`. Returns MPI's error code; *note is
 * NULL after an error. */
int message_check_start(struct message_check *c, bool receives, int rank, size_t bytes,
                        const char *operation, MPI_Comm comm, struct message_note **note);

/* Compares and frees a note that has arrived or left. Returns MPI_ERR_OTHER and sets c->verdict
 * if sender and receiver disagree. */
int message_check_end(struct message_check *c, struct message_note **note);

/* Cancels and frees a note that will not arrive. *note may be NULL. */
void message_check_cancel(struct message_note **note);
