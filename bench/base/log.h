/* Prints messages for people, on standard error only. Standard output belongs to results. */
#pragma once

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DETAIL };

/* Prints "<program>: <level>: text" in one write, if `level` is at most $SCALEBENCH_LOG (default:
 * note). */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
