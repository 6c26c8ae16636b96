/* JSON as all of our files have it, by jansson. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* ---- Writing ---- */

/* A string, the caller's. Bytes that are no UTF-8, which JSON cannot hold, are as a terminal shows them: \xff. NULL
 * where memory has run out. */
json_t *json_text(const char *text);

/* The same; null where there is no text or an empty one. */
json_t *json_text_or_null(const char *text);

/* Adds a number to an object, which may be NULL; one that is NAN or infinite is left out. */
void json_set_known(json_t *object, const char *name, double number);

/* Writes a value and the end of its line; `flags` are json_dumpf's. False where the value is NULL or cannot be
 * written. */
bool json_put(FILE *out, const json_t *value, size_t flags);

/* Flags of a value on one line whose numbers lose no bit. */
enum { JSON_LINE = JSON_COMPACT | JSON_REAL_PRECISION(17) };

/* ---- Reading ---- */

/* A number of an object; NAN where there is none. */
double json_known(const json_t *object, const char *name);

/* A text of an object, borrowed from it; "" where there is none. */
const char *json_text_of(const json_t *object, const char *name);

/* Called with the object of each line; `line` counts from 1. */
typedef enum status json_take_line(void *arg, const json_t *object, int line, struct error *e);

/* Hands `take` each line of a file, an object a line, until one fails; *lines: how many there are. A line that is no
 * object is ERR_DATA with its place, unless it is the last one: its writer was killed over it. */
enum status json_read_lines(FILE *file, const char *path, json_take_line *take, void *arg,
                            int *lines, struct error *e);
