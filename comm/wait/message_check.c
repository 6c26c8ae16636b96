#include "comm/wait/message_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI tag of notes, which describe messages (message_check.h). Strategies use tag 0, data readers
 * other small tags. */
enum { TAG_NOTE = 30003 };

/* Numbers of messages sent to and received from one rank of a communicator so far. */
struct counts {
    uint64_t sent, received;
};

static int free_counts(MPI_Comm comm, int key, void *value, void *state)
{
    free(value);
    return MPI_SUCCESS;
}

void message_check_open(struct message_check *c)
{
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_counts, &c->key, NULL);
}

void message_check_close(struct message_check *c)
{
    MPI_Comm_free_keyval(&c->key);
}

/* Returns the message counts [ranks] of `comm`; the first call for `comm` creates them. NULL if
 * there is no memory. */
static struct counts *counts_of(const struct message_check *c, MPI_Comm comm)
{
    void *value;
    int found, ranks;
    MPI_Comm_get_attr(comm, c->key, &value, &found);
    if (found)
        return value;
    MPI_Comm_size(comm, &ranks);
    struct counts *counts = calloc((size_t)ranks, sizeof *counts);
    if (counts != NULL)
        MPI_Comm_set_attr(comm, c->key, counts);
    return counts;
}

static void free_note(struct message_note **note)
{
    free(*note);
    *note = NULL;
}

int message_check_start(struct message_check *c, bool receives, int rank, size_t bytes,
                        const char *operation, MPI_Comm comm, struct message_note **note)
{
    struct counts *counts = counts_of(c, comm);
    struct message_note *n = *note = counts != NULL ? calloc(1, sizeof *n) : NULL;
    if (n == NULL)
        return MPI_ERR_NO_MEM;
    int world_rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    n->receives = receives;
    n->own.world_rank = world_rank;
    n->own.number = receives ? ++counts[rank].received : ++counts[rank].sent;
    n->own.bytes = bytes;
    snprintf(n->own.operation, sizeof n->own.operation, "%s", operation);
    int code =
        receives
            ? MPI_Irecv(&n->theirs, sizeof n->theirs, MPI_BYTE, rank, TAG_NOTE, comm, &n->request)
            : MPI_Isend(&n->own, sizeof n->own, MPI_BYTE, rank, TAG_NOTE, comm, &n->request);
    if (code != MPI_SUCCESS)
        free_note(note);
    return code;
}

static bool agrees(const struct message_note *n)
{
    return n->own.bytes == n->theirs.bytes && strcmp(n->own.operation, n->theirs.operation) == 0;
}

int message_check_end(struct message_check *c, struct message_note **note)
{
    const struct message_note *n = *note;
    int code = n->receives && !agrees(n) ? MPI_ERR_OTHER : MPI_SUCCESS;
    if (code != MPI_SUCCESS && c->verdict[0] == '\0')
        snprintf(c->verdict, sizeof c->verdict,
                 "message %llu from rank %d to rank %d is not the same on both: rank %d sends %llu "
                 "bytes (%s); rank %d expects %llu bytes (%s)",
                 (unsigned long long)n->own.number, n->theirs.world_rank, n->own.world_rank,
                 n->theirs.world_rank, (unsigned long long)n->theirs.bytes, n->theirs.operation,
                 n->own.world_rank, (unsigned long long)n->own.bytes, n->own.operation);
    free_note(note);
    return code;
}

void message_check_cancel(struct message_note **note)
{
    if (*note == NULL)
        return;
    MPI_Cancel(&(*note)->request);
    MPI_Wait(&(*note)->request, MPI_STATUS_IGNORE); /* MPI_Wait does not block after MPI_Cancel */
    free_note(note);
}
