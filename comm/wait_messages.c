/* Messages between two ranks. */
#include "comm/wait_own.h"

/* Waits for one message that has been started. */
static enum status wait_message(struct waiter *w, struct message *message, struct error *e)
{
    if (!wait_sits_in_library(w))
        return wait_look(w, MPI_SUCCESS, &message->request, e);
    int code = MPI_Wait(&message->request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? OK : wait_failed(e, code, w->operation);
}

/* Waits for messages that have been started, one after the other: all of them must come. */
static enum status wait_messages(struct waiter *w, int code, struct message *messages, int n,
                                 struct error *e)
{
    enum status status = code == MPI_SUCCESS ? OK : wait_failed(e, code, w->operation);
    for (int i = 0; i < n && status == OK; i++)
        status = wait_message(w, &messages[i], e);
    wait_end(w);
    return status;
}

/* In pairs of the same number, then what is left of the longer list. */
static enum status wait_pairs(struct waiter *w, int code, const struct exchange *x, struct error *e)
{
    enum status status = code == MPI_SUCCESS ? OK : wait_failed(e, code, w->operation);
    for (int i = 0; (i < x->n_sends || i < x->n_receives) && status == OK; i++) {
        if (i < x->n_sends)
            status = wait_message(w, &x->sends[i], e);
        if (i < x->n_receives && status == OK)
            status = wait_message(w, &x->receives[i], e);
        if (i < x->n_receives && status == OK && x->arrived != NULL)
            x->arrived(x->arg, i);
    }
    wait_end(w);
    return status;
}

static enum status check_messages(const struct message *messages, int n, const char *operation,
                                  struct error *e)
{
    for (int i = 0; i < n; i++)
        if (wait_check_count(messages[i].bytes, operation, e) != OK)
            return ERR_ARGUMENT;
    return OK;
}

int waiter_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        struct message *m = &messages[i];
        waiter_count(w, m->bytes);
        w->messages_sent++;
        w->bytes_sent += m->bytes;
        code = MPI_Isend(m->data, (int)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
    }
    return code;
}

int waiter_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        struct message *m = &messages[i];
        waiter_count(w, m->bytes);
        code = MPI_Irecv(m->data, (int)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
    }
    return code;
}

void waiter_cancel(struct message *message)
{
    if (message->request == MPI_REQUEST_NULL)
        return;
    MPI_Cancel(&message->request);
    MPI_Wait(&message->request, MPI_STATUS_IGNORE); /* of what is cancelled: local */
}

enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e)
{
    if (check_messages(messages, n, operation, e) != OK)
        return ERR_ARGUMENT;
    wait_begin(w, operation);
    return wait_messages(w, waiter_send(w, messages, n, comm), messages, n, e);
}

enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e)
{
    if (check_messages(messages, n, operation, e) != OK)
        return ERR_ARGUMENT;
    wait_begin(w, operation);
    return wait_messages(w, waiter_receive(w, messages, n, comm), messages, n, e);
}

/* Receives first: what arrives finds its place. */
enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e)
{
    if (check_messages(x->sends, x->n_sends, x->operation, e) != OK ||
        check_messages(x->receives, x->n_receives, x->operation, e) != OK)
        return ERR_ARGUMENT;
    wait_begin(w, x->operation);
    int code = waiter_receive(w, x->receives, x->n_receives, x->comm);
    if (code == MPI_SUCCESS)
        code = waiter_send(w, x->sends, x->n_sends, x->comm);
    return wait_pairs(w, code, x, e);
}
