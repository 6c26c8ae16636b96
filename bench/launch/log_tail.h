/* Finds the line of a log that explains a failure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes the line of a log that explains a failure, "" for an empty log. In order of preference:
 *
 *   the first message of our programs, a sanitizer, the C library or Python from before a rank died
 *   a line about /dev/shm
 *   the report of a killed rank
 *   a line of the network library
 *   the last line
 *
 * If hydra printed its banner, the way in which the rank died comes before that line. */
void log_tail(const char *path, char *text, size_t size);

/* Log that is still being written. */
struct log_reader {
    const char *path;
    off_t read; /* bytes read so far */
};

/* Returns whether the lines written since the last call include a final message of one of our
 * ranks. Its launch has then failed, even if its launcher still runs. */
bool log_has_last_word(struct log_reader *r);
