/* Prints messages for people, on standard error only. Standard output belongs to results. */
#pragma once

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DETAIL };

/* Prints "<program>: <level>: text" in one write, if `level` is at most the level in
 * $SCALEBENCH_LOG. Levels in ascending order: error, warning, note, detail. If the variable is
 * unset or is not a level, note is used. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
