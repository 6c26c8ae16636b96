/* Check mode for messages between two ranks: with each message goes a line in which the sender says
 * what it sends; the receiver compares the line with what it expects before it looks at the message.
 * A message of another size, or of another step of an algorithm, would otherwise be cut short, or be
 * mistaken for the expected one. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one side says. */
struct message_line {
    int32_t world_rank;
    uint64_t number; /* of the message from this sender to this receiver on its communicator */
    uint64_t bytes;
    char operation[96];
};

/* The line of a message that is on its way. */
struct message_note {
    struct message_line own, theirs;
    bool receives;
    MPI_Request request;
};

struct message_check {
    int key;           /* of the attribute that counts a communicator's messages */
    char verdict[768]; /* of the first message that was wrong; "" */
};

void message_check_open(struct message_check *c);
void message_check_close(struct message_check *c);

/* Starts the line of a message of so many bytes to or from `rank`; MPI's code. *note is NULL after
 * an error. */
int message_check_start(struct message_check *c, bool receives, int rank, size_t bytes,
                        const char *operation, MPI_Comm comm, struct message_note **note);

/* When the line has come or gone: MPI_ERR_OTHER, with the verdict, where the sender says something
 * else than the receiver. Frees the note. */
int message_check_end(struct message_check *c, struct message_note **note);

/* Gives up a line that will not come. */
void message_check_cancel(struct message_note **note);
