/* Finds the line of a launch's log that explains why the launch failed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes the line of a log that explains why its launch failed; "" if the log is empty. Of the
 * lines below, the first kind found is used:
 *
 *   the first message of our programs, a sanitizer, the C library or Python from before a rank died
 *   a line about /dev/shm
 *   the report of a killed rank
 *   a line of the network library
 *   the last line
 *
 * If hydra printed its banner, the text after "EXIT STRING:", how the rank died, is put before that
 * line. */
void log_tail(const char *path, char *text, size_t size);

/* A log that a running launch still writes. */
struct log_reader {
    const char *path;
    off_t read; /* number of bytes already read */
};

/* Returns whether the log has, since the last call, a final message of a rank of this project's
 * programs. The launch has then failed, even if mpiexec still runs. */
bool log_has_last_word(struct log_reader *r);
