/* Declarations that only the files of comm/wait use. Most waits make three calls:
 *
 *   wait_enter    records in shared memory that the rank waits, and arms the watchdog
 *   wait_request  completes a request, by testing it or by a blocking call
 *   wait_leave    disarms the watchdog */
#pragma once

#include "comm/wait/mpi_error.h"
#include "comm/wait/wait.h"

void wait_enter(struct waiter *w, const char *operation);
/* Replaces wait_enter in waits that test in a loop even if waiter_blocks(w) is true. Sets the
 * watchdog's deadline to SLACK_NS (waiter.c) after the wait's deadline. */
void wait_enter_polling(struct waiter *w, const char *operation);
/* Extends the deadline of the current wait by more_ns. */
void wait_allow(struct waiter *w, int64_t more_ns);
void wait_leave(struct waiter *w);

/* Records that this rank is alive. ERR_TIMEOUT if the deadline of the current wait has passed. */
enum status wait_check_deadline(struct waiter *w, struct error *e);

/* Called between two tests of a wait: serves other ranks, yields under WAIT_YIELD and checks the
 * deadline. */
enum status wait_pause(struct waiter *w, struct error *e);

/* Waits for one request that was started without error. The wait policy decides between a blocking
 * call and tests in a loop. */
enum status wait_request(struct waiter *w, MPI_Request *request, struct error *e);
