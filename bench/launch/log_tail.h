/* Finds the line of a launch's log that explains why the launch failed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes the line of a log that explains why its launch failed; "" if the log is empty. Uses the
 * first of the following kinds of lines that occurs in the log:
 *
 *   a report of the out-of-memory killer
 *   before any rank died: the first message of our programs, a launcher, a sanitizer, the C library
 *     or Python
 *   a line about /dev/shm
 *   the report of a killed rank
 *   a line of the network library
 *   the first line of a message between two rows of dashes (Open MPI)
 *   the last line, preferably one that does more than report another process's failure
 *
 * If hydra printed its banner, `text` begins with the banner's words after "EXIT STRING:", which
 * say how the rank died. */
void log_tail(const char *path, char *text, size_t size);

/* A log to which a running launch still writes. */
struct log_reader {
    const char *path;
    off_t read; /* number of bytes already read or skipped */
};

/* Returns whether a rank of this project's programs has written a final message since the last
 * call. The launch has then failed, even if mpiexec still runs. */
bool log_has_last_word(struct log_reader *r);
