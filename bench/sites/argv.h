/* Builds a NULL-terminated list of strings in one allocation, for argv and environment of a
 * launch. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* Builder, zeroed before use. `failed` stays set once memory runs out. */
struct argv_builder {
    FILE *out;  /* stream that writes `text` */
    char *text; /* strings, separated by zero bytes */
    size_t bytes, n;
    bool failed;
};

void argv_add(struct argv_builder *argv, const char *argument);
/* Adds `arguments`, which ends with NULL. */
void argv_add_all(struct argv_builder *argv, const char *const *arguments);
/* argv_format adds a formatted argument; argv_extend appends to the last argument. */
void argv_format(struct argv_builder *argv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void argv_extend(struct argv_builder *argv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets *list to the arguments and resets `argv`. Free *list with free. If memory ran out, *list is
 * NULL; returns ERR_MEMORY with the message "no memory for WHAT". */
enum status argv_finish(struct argv_builder *argv, char ***list, const char *what, struct error *e);
