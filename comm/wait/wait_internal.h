/* What the parts of waiting share: for comm/wait*.c alone. */
#ifndef SCALEBENCH_COMM_WAIT_WAIT_INTERNAL_H
#define SCALEBENCH_COMM_WAIT_WAIT_INTERNAL_H

#include "comm/wait/wait.h"

/* ERR_MPI with the library's own words. */
enum status wait_failed(struct error *e, int code, const char *operation);

/* Notes the arrival at the next wait and starts its deadline. */
void wait_begin(struct waiter *w, const char *operation);
/* The same of a wait that never sits in the library. */
void wait_begin_looks(struct waiter *w, const char *operation);
/* Ends it. */
void wait_end(struct waiter *w);
/* Ends it with what the library's call has given. */
enum status wait_leave(struct waiter *w, int code, struct error *e);

/* Whether waits are the library's own: a rank that serves others must be able to. */
bool wait_sits_in_library(const struct waiter *w);

/* Gives a sign of life; ERR_TIMEOUT, with the message, once the deadline has passed. */
enum status wait_alive(struct waiter *w, struct error *e);

/* Between two looks at what is waited for: others get their turn, and the deadline passes. */
enum status wait_again(struct waiter *w, struct error *e);

/* Tests until the request that `code` says was started is complete or the deadline has passed,
 * inside a wait that has begun. */
enum status wait_look(struct waiter *w, int code, MPI_Request *request, struct error *e);

/* ERR_ARGUMENT for more elements than a call of the library takes. */
enum status wait_check_count(size_t count, const char *operation, struct error *e);

#endif
