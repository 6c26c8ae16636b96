/* The last words of a program that failed. */
#ifndef SCALEBENCH_RUNNER_LOG_TAIL_H
#define SCALEBENCH_RUNNER_LOG_TAIL_H

#include <stddef.h>

/* The last line of a log, or the one that tells of a rank that was killed; when hydra printed its
 * banner because a rank died, how it died and the last such line before the banner. "" for an empty
 * log. */
void log_tail(const char *path, char *text, size_t size);

#endif
