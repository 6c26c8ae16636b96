#include "kernels/base/error.h"

#include <stdarg.h>
#include <string.h>

#include "kernels/base/terminal.h"

/* `arguments` may point to e->text and e->file, so the text is formatted into a separate buffer
 * first. */
static void error_fill(struct error *e, enum status status, const char *file, int line, int column,
                       const char *format, va_list arguments)
{
    if (e == NULL)
        return;
    struct error filled = {.status = status, .line = line, .column = column};
    if (file != NULL)
        snprintf(filled.file, sizeof filled.file, "%s", file);
    vsnprintf(filled.text, sizeof filled.text, format, arguments);
    *e = filled;
}

enum status error_set(struct error *e, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_fill(e, status, NULL, 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

enum status error_at(struct error *e, enum status status, const char *file, int line, int column,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_fill(e, status, file, line, column, format, arguments);
    va_end(arguments);
    return status;
}

enum status error_no_memory(struct error *e, const char *what)
{
    return error_set(e, ERR_MEMORY, "no memory for %s", what);
}

void error_print(FILE *out, const struct error *e)
{
    char file[2 * sizeof e->file], text[2 * sizeof e->text]; /* escaped copies: the file name and
                                                              * the text may quote user input */
    terminal_clean(file, sizeof file, e->file);
    terminal_clean(text, sizeof text, e->text);
    if (e->file[0])
        fprintf(out, "%s:", file);
    if (e->line > 0)
        fprintf(out, "%d:", e->line);
    if (e->line > 0 && e->column > 0)
        fprintf(out, "%d:", e->column);
    fprintf(out, "%s%s\n", e->file[0] || e->line > 0 ? " " : "", text);
}

int error_exit_status(const struct error *e)
{
    switch (e->status) {
    case ERR_ARGUMENT:
    case ERR_SPEC:
    case ERR_DATA:
    case ERR_SHAPE:
        return 2;
    case ERR_UNAVAILABLE:
        return 3;
    case ERR_INTERRUPTED:
        return 130;
    default:
        return 1;
    }
}
