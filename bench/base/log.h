/* Messages for people, on standard error only. Standard output belongs to results. */
#pragma once

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DETAIL };

/* Prints "<program>: <level>: text" when `level` is at or below $SCALEBENCH_LOG (error, warning,
 * note, detail; unset or any other word counts as note). Written in one piece. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
