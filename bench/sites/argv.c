#include "bench/sites/argv.h"

#include <stdlib.h>
#include <string.h>

void argv_add(struct argv_builder *argv, const char *argument)
{
    size_t size = strlen(argument) + 1;
    char *text = argv->failed ? NULL : realloc(argv->text, argv->bytes + size);
    if (text == NULL) {
        argv->failed = true;
        return;
    }
    memcpy(text + argv->bytes, argument, size);
    argv->text = text;
    argv->bytes += size;
    argv->n++;
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
