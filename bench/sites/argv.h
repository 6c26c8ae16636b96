/* Builds a NULL-terminated list of strings in one allocation: argv and environment of a launch. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All zero to begin with. `failed` stays set once memory ran out. */
struct argv_builder {
    FILE *out;  /* writes `text` */
    char *text; /* the strings, a zero between two */
    size_t bytes, n;
    bool failed;
};

void argv_add(struct argv_builder *argv, const char *argument);
void argv_add_all(struct argv_builder *argv, const char *const *arguments); /* NULL-terminated */
/* Adds an argument by a format; appends to the last one. */
void argv_format(struct argv_builder *argv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void argv_extend(struct argv_builder *argv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The list in one allocation, freed with free; NULL when memory ran out. Ends `argv`. */
char **argv_finish(struct argv_builder *argv);
