#include <limits.h>

#include "comm/wait/wait_internal.h"

static bool is_compared(const struct message *m)
{
    return m->note != NULL;
}

/* Waits for one message that was started; in check mode, first for its note (message_check.h). If
 * an earlier message_test failed, only returns its error. */
static enum status finish_message(struct waiter *w, struct message *message, struct error *e)
{
    TRY(message_status(w, message->code, w->operation, e));
    if (is_compared(message)) {
        TRY(wait_request(w, &message->note->request, e));
        int code = message_check_end(&w->check->messages, &message->note);
        TRY(message_status(w, code, w->operation, e));
    }
    return wait_request(w, &message->request, e);
}

/* Waits for sends[i] and receives[i] in pairs, then for the rest of the longer list. Calls
 * x->arrived after each receive, and wait_leave at the end. */
static enum status wait_pairs(struct waiter *w, int code, const struct exchange *x, struct error *e)
{
    enum status status = message_status(w, code, w->operation, e);
    for (int i = 0; (i < x->n_sends || i < x->n_receives) && status == OK; i++) {
        if (i < x->n_sends)
            status = finish_message(w, &x->sends[i], e);
        if (i < x->n_receives && status == OK)
            status = finish_message(w, &x->receives[i], e);
        if (i < x->n_receives && status == OK && x->arrived != NULL)
            x->arrived(x->arg, i);
    }
    wait_leave(w);
    return status;
}

static enum status check_messages(const struct waiter *w, const struct message *messages, int n,
                                  const char *operation, struct error *e)
{
    for (int i = 0; i < n; i++)
        if (messages[i].bytes > w->message_most)
            return error_set(e, ERR_ARGUMENT,
                             "%s has a message of %zu bytes, but MPI accepts at most %zu",
                             operation, messages[i].bytes, w->message_most);
    return OK;
}

/* Initialises a message and, in check mode, starts to send or receive the note that describes the
 * message to the receiver. Returns MPI's error code, or MPI_ERR_COUNT if the message is too
 * long. */
static int start_message(struct waiter *w, bool receives, struct message *m, MPI_Comm comm,
                         const char *operation)
{
    m->note = NULL;
    m->request = MPI_REQUEST_NULL;
    m->code = MPI_SUCCESS;
    if (m->bytes > w->message_most)
        return MPI_ERR_COUNT;
    if (w->check == NULL)
        return MPI_SUCCESS;
    return message_check_start(&w->check->messages, receives, m->rank, m->bytes, operation, comm,
                               &m->note);
}

/* Posts a receive. Messages of more than INT_MAX bytes need MPI 4. */
static int receive(struct message *m, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (m->bytes > INT_MAX)
        return MPI_Irecv_c(m->data, (MPI_Count)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
#endif
    return MPI_Irecv(m->data, (int)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
}

static int send(struct message *m, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (m->bytes > INT_MAX)
        return MPI_Isend_c(m->data, (MPI_Count)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
#endif
    return MPI_Isend(m->data, (int)m->bytes, MPI_BYTE, m->rank, 0, comm, &m->request);
}

static int start(struct waiter *w, bool receives, struct message *messages, int n, MPI_Comm comm,
                 const char *operation)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        waiter_count(w, messages[i].bytes);
        code = start_message(w, receives, &messages[i], comm, operation);
        if (code == MPI_SUCCESS)
            code = receives ? receive(&messages[i], comm) : send(&messages[i], comm);
    }
    return code;
}

int message_begin_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                       const char *operation)
{
    for (int i = 0; i < n; i++)
        w->bytes_sent += messages[i].bytes;
    w->messages_sent += (uint64_t)n;
    return start(w, false, messages, n, comm, operation);
}

int message_begin_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                          const char *operation)
{
    return start(w, true, messages, n, comm, operation);
}

int message_test(struct waiter *w, struct message *message, bool *done)
{
    int found = 1, code = message->code;
    if (code == MPI_SUCCESS && is_compared(message)) {
        code = MPI_Test(&message->note->request, &found, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && found)
            code = message_check_end(&w->check->messages, &message->note);
    }
    if (code == MPI_SUCCESS && found && message->request != MPI_REQUEST_NULL)
        code = MPI_Test(&message->request, &found, MPI_STATUS_IGNORE);
    message->code = code;
    *done = found && code == MPI_SUCCESS;
    return code;
}

enum status message_status(const struct waiter *w, int code, const char *operation, struct error *e)
{
    if (code == MPI_ERR_COUNT)
        return error_set(
            e, ERR_ARGUMENT,
            "%s has a message that is longer than %zu bytes, the limit of this MPI library",
            operation, w->message_most);
    if (code != MPI_SUCCESS && w->check != NULL && w->check->messages.verdict[0] != '\0')
        return error_set(e, ERR_MPI, "%s", w->check->messages.verdict);
    return mpi_status(code, operation, e);
}

void message_cancel(struct waiter *w, struct message *message)
{
    if (is_compared(message))
        message_check_cancel(&message->note);
    if (message->request == MPI_REQUEST_NULL)
        return;
    MPI_Cancel(&message->request);
    MPI_Wait(&message->request, MPI_STATUS_IGNORE); /* MPI_Wait does not block after MPI_Cancel */
}

void message_let_leave(struct waiter *w, struct message *message, const char *operation)
{
    struct error e; /* ignored, because an earlier error has been reported */
    if (message->request != MPI_REQUEST_NULL || is_compared(message))
        message_wait(w, message, operation, &e);
}

enum status message_wait(struct waiter *w, struct message *message, const char *operation,
                         struct error *e)
{
    wait_enter(w, operation);
    enum status status = finish_message(w, message, e);
    wait_leave(w);
    return status;
}

static enum status check_exchange(const struct waiter *w, const struct exchange *x, struct error *e)
{
    TRY(check_messages(w, x->sends, x->n_sends, x->operation, e));
    return check_messages(w, x->receives, x->n_receives, x->operation, e);
}

/* Starts all messages of an exchange. Receives are posted first, so that arriving messages find a
 * buffer. */
static int start_exchange(struct waiter *w, const struct exchange *x)
{
    int code = message_begin_receive(w, x->receives, x->n_receives, x->comm, x->operation);
    if (code == MPI_SUCCESS)
        code = message_begin_send(w, x->sends, x->n_sends, x->comm, x->operation);
    return code;
}

enum status wait_exchange(struct waiter *w, const struct exchange *x, struct error *e)
{
    TRY(check_exchange(w, x, e));
    wait_enter(w, x->operation);
    return wait_pairs(w, start_exchange(w, x), x, e);
}

enum status wait_send(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                      const char *operation, struct error *e)
{
    const struct exchange x = {
        .sends = messages, .n_sends = n, .comm = comm, .operation = operation};
    return wait_exchange(w, &x, e);
}

enum status wait_receive(struct waiter *w, struct message *messages, int n, MPI_Comm comm,
                         const char *operation, struct error *e)
{
    const struct exchange x = {
        .receives = messages, .n_receives = n, .comm = comm, .operation = operation};
    return wait_exchange(w, &x, e);
}

enum status message_begin_exchange(struct waiter *w, const struct exchange *x, struct error *e)
{
    TRY(check_exchange(w, x, e));
    return message_status(w, start_exchange(w, x), x->operation, e);
}

/* Tests messages in order, up to the first that is incomplete. That test progresses the other
 * messages too. */
int message_test_exchange(struct waiter *w, const struct exchange *x, bool *done)
{
    int code = MPI_SUCCESS;
    *done = true;
    for (int i = 0; i < x->n_receives && *done; i++)
        code = message_test(w, &x->receives[i], done);
    for (int i = 0; i < x->n_sends && *done; i++)
        code = message_test(w, &x->sends[i], done);
    return code;
}

enum status wait_begun_exchange(struct waiter *w, const struct exchange *x, int code,
                                struct error *e)
{
    wait_enter(w, x->operation);
    return wait_pairs(w, code, x, e);
}
