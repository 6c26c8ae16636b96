/* The last words of a program that failed. */
#pragma once

#include <stddef.h>

/* The line of a log that explains the failure: the first message of a program of ours, a sanitizer,
 * the C library or Python from before a rank died; else a word on /dev/shm, the line that tells of
 * a rank that was killed, the network library's, the last one. Before it how a rank died, where
 * hydra printed its banner. "" for an empty log. */
void log_tail(const char *path, char *text, size_t size);
