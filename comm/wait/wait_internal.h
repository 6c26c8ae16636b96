/* What the files of comm/wait share; nobody else includes it. A wait:
 *
 *   wait_enter    the rank notes its arrival, and the deadline begins
 *   wait_request  completes a request, by testing it or by a blocking call
 *   wait_leave    the watchdog is disarmed */
#pragma once

#include "comm/wait/mpi_error.h"
#include "comm/wait/wait.h"

void wait_enter(struct waiter *w, const char *operation);
/* The same for a wait that never blocks inside the library, whatever the policy. */
void wait_enter_polling(struct waiter *w, const char *operation);
/* Inside a wait: it may last so much longer. */
void wait_allow(struct waiter *w, int64_t more_ns);
void wait_leave(struct waiter *w);

/* Gives a sign of life; ERR_TIMEOUT, with the message, once the deadline has passed. */
enum status wait_check_deadline(struct waiter *w, struct error *e);

/* Between two tests of what is waited for: serves, yields where the policy says so, and checks the
 * deadline. */
enum status wait_pause(struct waiter *w, struct error *e);

/* Waits for one request that was started without an error, by a blocking call or by testing, as the
 * policy says. */
enum status wait_request(struct waiter *w, MPI_Request *request, struct error *e);
