/* Check mode for messages between two ranks. With each message the sender also sends a note that
 * describes the message. The receiver compares the note with the message that it expects, before it
 * uses the data. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Description of a message by its sender or by its receiver. */
struct message_line {
    int32_t world_rank;
    /* sequence number of the message, from 1; counted separately for each sender, receiver and
     * communicator */
    uint64_t number;
    uint64_t bytes;
    char operation[96];
};

/* A note in transit: the description that accompanies a message. */
struct message_note {
    struct message_line own, theirs;
    bool receives;
    MPI_Request request;
};

struct message_check {
    int key;           /* key of the MPI attribute that counts the messages of a communicator */
    char verdict[768]; /* description of the first mismatch; "": none so far */
};

void message_check_open(struct message_check *c);
void message_check_close(struct message_check *c);

/* Starts to send or receive the note that describes a message of `bytes` bytes to or from `rank`.
 * Returns MPI's error code; *note is NULL after an error. */
int message_check_start(struct message_check *c, bool receives, int rank, size_t bytes,
                        const char *operation, MPI_Comm comm, struct message_note **note);

/* Frees a note (description of a message) that was sent or received. Compares a received note with
 * the expected message first. Returns MPI_ERR_OTHER if they differ, else MPI_SUCCESS. c->verdict
 * keeps the first difference. */
int message_check_end(struct message_check *c, struct message_note **note);

/* Cancels the receive of a note (a sender's description of its message) that will not arrive, and
 * frees the note. *note may be NULL. */
void message_check_cancel(struct message_note **note);
