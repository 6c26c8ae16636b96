/* Prints messages for people, on standard error only. Standard output belongs to results. */
#pragma once

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DETAIL };

/* Prints "<program>: <level>: text" if $SCALEBENCH_LOG is `level` or a later one of error, warning,
 * note, detail. Unset or unknown counts as note. The message is one write. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
