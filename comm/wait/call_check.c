#include "comm/wait/call_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/wait/mpi_error.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

struct call_ticket {
    struct call_line own;
    intptr_t number;
    int ranks;
    MPI_Request request;
    struct call_line lines[]; /* [ranks] calls of all ranks, gathered for comparison */
};

enum status call_check_open(struct call_check **check, struct error *e)
{
    TRY(MEM_NEW(*check, 1, "checks of calls", e));
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &(*check)->key, NULL);
    message_check_open(&(*check)->messages);
    return OK;
}

void call_check_close(struct call_check *c)
{
    if (c == NULL)
        return;
    message_check_close(&c->messages);
    MPI_Comm_free_keyval(&c->key);
    free(c);
}

/* Counts this collective on its communicator and returns its number, from 1. The count is stored in
 * the pointer value of an MPI attribute. */
static intptr_t next_number(const struct call_check *c, MPI_Comm comm)
{
    void *value;
    int found;
    MPI_Comm_get_attr(comm, c->key, &value, &found);
    intptr_t number = found ? (intptr_t)value + 1 : 1;
    MPI_Comm_set_attr(comm, c->key, (void *)number);
    return number;
}

static struct call_line line_of(const struct call *call)
{
    struct call_line line;
    char type[MPI_MAX_OBJECT_NAME] = "";
    int length, world_rank;
    memset(&line, 0, sizeof line); /* zeroes padding too, because lines are sent as bytes */
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Type_get_name(call->type, type, &length);
    line.world_rank = world_rank;
    line.root = call->root;
    line.count = call->count;
    snprintf(line.kind, sizeof line.kind, "%s", call->kind);
    snprintf(line.type, sizeof line.type, "%.31s", type);
    snprintf(line.operation, sizeof line.operation, "%s", call->operation);
    return line;
}

static bool same_call(const struct call_line *a, const struct call_line *b)
{
    return a->count == b->count && a->root == b->root && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->type, b->type) == 0 && strcmp(a->operation, b->operation) == 0;
}

static void append(char verdict[CALL_VERDICT_BYTES], const char *more)
{
    text_join(verdict, CALL_VERDICT_BYTES, "", more);
}

/* Appends the ranks whose call equals lines[first], and that call. For ranks 1 and 3, for example:
 * "; rank 1 3: allreduce of 100 MPI_FLOAT (sum of the scores)". */
static void append_group(const struct call_ticket *t, int first, char verdict[CALL_VERDICT_BYTES])
{
    char part[256];
    const struct call_line *line = &t->lines[first];
    append(verdict, "; rank");
    for (int i = first; i < t->ranks; i++) {
        snprintf(part, sizeof part, " %d", t->lines[i].world_rank);
        append(verdict, same_call(&t->lines[i], line) ? part : "");
    }
    snprintf(part, sizeof part, ": %s of %llu %s", line->kind, (unsigned long long)line->count,
             line->type);
    append(verdict, part);
    if (line->root >= 0)
        snprintf(part, sizeof part, " with root %d (%s)", line->root, line->operation);
    else
        snprintf(part, sizeof part, " (%s)", line->operation);
    append(verdict, part);
}

/* Writes to `verdict` the differences between the ranks' calls; "" if all calls are equal. */
static void judge(const struct call_ticket *t, char verdict[CALL_VERDICT_BYTES])
{
    bool agree = true;
    for (int i = 1; i < t->ranks; i++)
        agree = agree && same_call(&t->lines[i], &t->lines[0]);
    verdict[0] = '\0';
    if (agree)
        return;
    snprintf(verdict, CALL_VERDICT_BYTES, "collective %lld is not the same on all %d ranks",
             (long long)t->number, t->ranks);
    for (int i = 0; i < t->ranks; i++) {
        bool listed = false;
        for (int j = 0; j < i; j++)
            listed = listed || same_call(&t->lines[i], &t->lines[j]);
        if (!listed)
            append_group(t, i, verdict);
    }
}

/* ---- Calls ---- */

enum status call_check_start(struct call_check *c, const struct call *call, MPI_Comm comm,
                             struct call_ticket **ticket, struct error *e)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    struct call_ticket *t = *ticket = calloc(1, sizeof *t + (size_t)ranks * sizeof *t->lines);
    if (t == NULL)
        return error_no_memory(e, "a comparison of calls");
    t->ranks = ranks;
    t->number = next_number(c, comm);
    t->own = line_of(call);
    int n = (int)sizeof t->own;
    int code = MPI_Iallgather(&t->own, n, MPI_BYTE, t->lines, n, MPI_BYTE, comm, &t->request);
    if (code == MPI_SUCCESS)
        return OK;
    free(t);
    *ticket = NULL;
    return mpi_status(code, "comparing calls", e);
}

bool call_check_test(struct call_ticket **ticket)
{
    char verdict[CALL_VERDICT_BYTES];
    int done = 0;
    if (*ticket == NULL)
        return true;
    if (MPI_Test(&(*ticket)->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
        return false;
    judge(*ticket, verdict);
    if (verdict[0] != '\0')
        return false;
    free(*ticket);
    *ticket = NULL;
    return true;
}

enum status call_check_finish(struct call_ticket **ticket, call_wait *wait, void *arg,
                              struct error *e)
{
    char verdict[CALL_VERDICT_BYTES];
    if (*ticket == NULL)
        return OK;
    TRY(wait(arg, &(*ticket)->request, e));
    judge(*ticket, verdict);
    free(*ticket);
    *ticket = NULL;
    return verdict[0] == '\0' ? OK : error_set(e, ERR_MPI, "%s", verdict);
}
