#include "comm/call_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages of strategies have tag 0; those of readers small ones. */
enum { TAG_LINE = 30001, TAG_VERDICT = 30002 };

enum status call_check_open(struct call_check **check, MPI_Comm largest, struct error *e)
{
    int ranks;
    MPI_Comm_size(largest, &ranks);
    struct call_check *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->key = MPI_KEYVAL_INVALID;
        c->lines = calloc((size_t)ranks, sizeof *c->lines);
        c->requests = calloc((size_t)ranks, sizeof *c->requests);
    }
    if (c == NULL || c->lines == NULL || c->requests == NULL) {
        call_check_close(c);
        return error_set(e, ERR_MEMORY, "no memory to check the calls of %d ranks", ranks);
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &c->key, NULL);
    *check = c;
    return OK;
}

void call_check_close(struct call_check *c)
{
    if (c == NULL)
        return;
    if (c->key != MPI_KEYVAL_INVALID)
        MPI_Comm_free_keyval(&c->key);
    free(c->lines);
    free(c->requests);
    free(c);
}

/* Number of this collective on its communicator, from 1; the count is the attribute's own value. */
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
    memset(&line, 0, sizeof line); /* lines are compared as bytes */
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

static size_t append(char *text, size_t used, const char *more)
{
    int length = snprintf(text + used, CALL_VERDICT_BYTES - used, "%s", more);
    return used + (size_t)length < CALL_VERDICT_BYTES ? used + (size_t)length
                                                      : CALL_VERDICT_BYTES - 1;
}

/* "; rank 1 3: allreduce of 100 MPI_FLOAT (sum of the scores)", of those that say as line `first`.
 */
static size_t append_group(const struct call_check *c, int ranks, int first, size_t used,
                           char *text)
{
    char part[256];
    const struct call_line *line = &c->lines[first];
    used = append(text, used, "; rank");
    for (int i = first; i < ranks; i++) {
        snprintf(part, sizeof part, " %d", c->lines[i].world_rank);
        if (same_call(&c->lines[i], line))
            used = append(text, used, part);
    }
    snprintf(part, sizeof part, ": %s of %llu %s", line->kind, (unsigned long long)line->count,
             line->type);
    used = append(text, used, part);
    if (line->root >= 0)
        snprintf(part, sizeof part, " with root %d (%s)", line->root, line->operation);
    else
        snprintf(part, sizeof part, " (%s)", line->operation);
    return append(text, used, part);
}

/* Leaves "" where all lines say the same. */
static void judge(struct call_check *c, int ranks, intptr_t number)
{
    bool agree = true;
    for (int i = 1; i < ranks; i++)
        agree = agree && same_call(&c->lines[i], &c->lines[0]);
    memset(c->verdict, 0, sizeof c->verdict);
    if (agree)
        return;
    size_t used = (size_t)snprintf(c->verdict, sizeof c->verdict,
                                   "collective %lld is not the same on all %d ranks",
                                   (long long)number, ranks);
    for (int i = 0; i < ranks; i++) {
        bool told = false;
        for (int j = 0; j < i; j++)
            told = told || same_call(&c->lines[i], &c->lines[j]);
        if (!told)
            used = append_group(c, ranks, i, used, c->verdict);
    }
}

static enum status mpi_failed(int code, struct error *e)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return error_set(e, ERR_MPI, "comparing calls: %.*s", length, text);
}

/* Rank 0 hears everybody, judges, and tells everybody. */
static enum status lead(struct call_check *c, int ranks, intptr_t number, MPI_Comm comm,
                        call_wait *wait, void *arg, struct error *e)
{
    int code = MPI_SUCCESS;
    enum status status = OK;
    for (int i = 1; i < ranks && code == MPI_SUCCESS; i++)
        code =
            MPI_Irecv(&c->lines[i], sizeof *c->lines, MPI_BYTE, i, TAG_LINE, comm, &c->requests[i]);
    for (int i = 1; i < ranks && code == MPI_SUCCESS && status == OK; i++)
        status = wait(arg, &c->requests[i], e);
    if (code != MPI_SUCCESS || status != OK)
        return status != OK ? status : mpi_failed(code, e);
    judge(c, ranks, number);
    for (int i = 1; i < ranks && code == MPI_SUCCESS; i++)
        code = MPI_Isend(c->verdict, sizeof c->verdict, MPI_BYTE, i, TAG_VERDICT, comm,
                         &c->requests[i]);
    for (int i = 1; i < ranks && code == MPI_SUCCESS && status == OK; i++)
        status = wait(arg, &c->requests[i], e);
    return code == MPI_SUCCESS ? status : mpi_failed(code, e);
}

static enum status follow(struct call_check *c, MPI_Comm comm, call_wait *wait, void *arg,
                          struct error *e)
{
    int code =
        MPI_Isend(&c->lines[0], sizeof *c->lines, MPI_BYTE, 0, TAG_LINE, comm, &c->requests[0]);
    enum status status = code == MPI_SUCCESS ? wait(arg, &c->requests[0], e) : mpi_failed(code, e);
    if (status != OK)
        return status;
    code =
        MPI_Irecv(c->verdict, sizeof c->verdict, MPI_BYTE, 0, TAG_VERDICT, comm, &c->requests[0]);
    return code == MPI_SUCCESS ? wait(arg, &c->requests[0], e) : mpi_failed(code, e);
}

enum status call_check(struct call_check *c, const struct call *call, MPI_Comm comm,
                       call_wait *wait, void *arg, struct error *e)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    intptr_t number = next_number(c, comm);
    c->lines[0] = line_of(call);
    c->verdict[0] = '\0';
    enum status status = OK;
    if (ranks > 1)
        status =
            rank == 0 ? lead(c, ranks, number, comm, wait, arg, e) : follow(c, comm, wait, arg, e);
    if (status != OK || c->verdict[0] == '\0')
        return status;
    return error_set(e, ERR_MPI, "%s", c->verdict);
}
