/* Prints messages for people, on standard error only. Standard output belongs to results. */
#pragma once

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DETAIL };

/* Prints "<program>: <level>: text", unless $SCALEBENCH_LOG names a level before `level` in the
 * order error, warning, note, detail. If the variable is unset or has another value, note is
 * assumed. The message is one write. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
