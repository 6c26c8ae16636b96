#include "bench/sites/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_room(struct argv_builder *argv, size_t bytes)
{
    if (argv->failed || argv->bytes + bytes <= argv->room)
        return !argv->failed;
    size_t room = 2 * (argv->bytes + bytes);
    char *text = realloc(argv->text, room);
    argv->failed = text == NULL;
    if (text == NULL)
        return false;
    argv->text = text;
    argv->room = room;
    return true;
}

void argv_add(struct argv_builder *argv, const char *argument)
{
    size_t size = strlen(argument) + 1;
    if (!has_room(argv, size))
        return;
    memcpy(argv->text + argv->bytes, argument, size);
    argv->bytes += size;
    argv->n++;
}

/* Behind the strings so far, each of which ends with a zero. */
static void append(struct argv_builder *argv, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    if (has_room(argv, size)) {
        vsnprintf(argv->text + argv->bytes, size, format, again);
        argv->bytes += size;
    }
    va_end(again);
}

void argv_format(struct argv_builder *argv, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(argv, format, arguments);
    va_end(arguments);
    argv->n += !argv->failed;
}

void argv_extend(struct argv_builder *argv, const char *format, ...)
{
    va_list arguments;
    argv->bytes -= argv->bytes > 0;
    va_start(arguments, format);
    append(argv, format, arguments);
    va_end(arguments);
}

void argv_add_all(struct argv_builder *argv, const char *const *arguments)
{
    for (; *arguments != NULL; arguments++)
        argv_add(argv, *arguments);
}

char **argv_finish(struct argv_builder *argv)
{
    size_t pointers = (argv->n + 1) * sizeof(char *);
    char **list = argv->failed ? NULL : malloc(pointers + argv->bytes);
    if (list != NULL) {
        char *text = (char *)list + pointers;
        if (argv->n > 0)
            memcpy(text, argv->text, argv->bytes);
        for (size_t i = 0; i < argv->n; i++, text += strlen(text) + 1)
            list[i] = text;
        list[argv->n] = NULL;
    }
    free(argv->text);
    *argv = (struct argv_builder){0};
    return list;
}
