/* Work that may go on for ever, done by a process of its own within limits of time and memory: what the C library's
 * matcher of regular expressions makes of a user's pattern, since it has none. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

enum bounded_end {
    BOUNDED_DONE,
    BOUNDED_OUT_OF_TIME, /* it used all its time */
    BOUNDED_LOST,        /* it ended otherwise: by a signal, say */
};

/* Memory of `size` bytes, zeroed, that such a process shares with its caller; freed with bounded_free. */
enum status bounded_new(void **shared, size_t size, struct error *e);
void bounded_free(void *shared, size_t size);

/* Calls work(shared) in a child that may use so many seconds of a processor, rounded up, and 1 GiB; what it
 * changes besides `shared` is lost. ERR_SYSTEM where there is no child. */
enum status bounded_run(enum bounded_end *end, void (*work)(void *shared), void *shared,
                        double seconds, struct error *e);
