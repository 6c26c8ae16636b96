/* The last words of a program that failed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The line of a log that explains the failure: the first message of a program of ours, a sanitizer,
 * the C library or Python from before a rank died; else a word on /dev/shm, the line that tells of
 * a rank that was killed, the network library's, the last one. Before it how a rank died, where
 * hydra printed its banner. "" for an empty log. */
void log_tail(const char *path, char *text, size_t size);

/* A log that is still written, and how far it has been read. */
struct log_reader {
    const char *path;
    off_t read; /* bytes */
};

/* Whether what was written since the last call has a line after which a rank of our programs ends: its launch has
 * failed, whatever its launcher does. */
bool log_has_last_word(struct log_reader *r);
