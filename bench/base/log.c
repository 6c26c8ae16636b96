#include "bench/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/names.h"
#include "kernels/base/terminal.h"

static const char *const level_names[] = {"error", "warning", "note", "detail"};
#define LEVELS (sizeof level_names / sizeof level_names[0])

static enum log_level log_threshold(void)
{
    const char *text = getenv("SCALEBENCH_LOG");
    int level = text != NULL ? name_index(text, level_names, LEVELS) : -1;
    return level < 0 ? LOG_NOTE : (enum log_level)level;
}

/* One write per message: the ranks of a job share standard error, and lines must not mix. */
void log_print(enum log_level level, const char *format, ...)
{
    if (level > log_threshold())
        return;
    char text[1536], clean[1700], line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    terminal_clean(clean, sizeof clean, text);
    snprintf(line, sizeof line, "%.255s: %s: %s\n", program_invocation_short_name,
             level_names[level], clean);
    fputs(line, stderr);
}
