#include "bench/sites/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the stream that writes argv->text; NULL if there is no memory. */
static FILE *stream_of(struct argv_builder *argv)
{
    if (argv->out == NULL && !argv->failed)
        argv->out = open_memstream(&argv->text, &argv->bytes);
    argv->failed |= argv->out == NULL;
    return argv->out;
}

static FILE *begin(struct argv_builder *argv)
{
    FILE *out = stream_of(argv);
    if (out != NULL && argv->n++ > 0)
        fputc('\0', out);
    return out;
}

void argv_add(struct argv_builder *argv, const char *argument)
{
    FILE *out = begin(argv);
    if (out != NULL)
        fputs(argument, out);
}

static void append(FILE *out, const char *format, va_list arguments)
{
    if (out != NULL)
        vfprintf(out, format, arguments);
}

void argv_format(struct argv_builder *argv, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(begin(argv), format, arguments);
    va_end(arguments);
}

void argv_extend(struct argv_builder *argv, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(stream_of(argv), format, arguments);
    va_end(arguments);
}

void argv_add_all(struct argv_builder *argv, const char *const *arguments)
{
    for (; *arguments != NULL; arguments++)
        argv_add(argv, *arguments);
}

enum status argv_finish(struct argv_builder *argv, char ***to, const char *what, struct error *e)
{
    bool complete = stream_of(argv) != NULL && fclose(argv->out) == 0 && !argv->failed;
    size_t pointers = (argv->n + 1) * sizeof(char *);
    char **list = *to = complete ? malloc(pointers + argv->bytes + 1) : NULL;
    if (list != NULL) {
        char *text = (char *)list + pointers;
        memcpy(text, argv->text, argv->bytes + 1);
        for (size_t i = 0; i < argv->n; i++, text += strlen(text) + 1)
            list[i] = text;
        list[argv->n] = NULL;
    }
    free(argv->text);
    *argv = (struct argv_builder){0};
    return list != NULL ? OK : error_no_memory(e, what);
}
