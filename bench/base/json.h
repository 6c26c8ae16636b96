/* Reads and writes JSON with jansson. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* ---- Writing ---- */

/* Returns `text` as a new JSON string, owned by the caller; NULL if memory runs out. If `text` is
 * not valid UTF-8, invalid bytes and control characters become escapes such as \xff. */
json_t *json_text(const char *text);

/* Returns a new string as json_text does, or JSON's null if `text` is NULL or empty. */
json_t *json_text_or_null(const char *text);

/* Adds a number to an object unless the number is NAN or infinite. `object` may be NULL. */
void json_set_known(json_t *object, const char *name, double number);

/* Writes a value and a newline; `flags` are the flags of json_dumpf. Returns false if the value is
 * NULL or cannot be written. */
bool json_put(FILE *out, const json_t *value, size_t flags);

/* Flags for one line per value and numbers that keep every bit. */
enum { JSON_LINE = JSON_COMPACT | JSON_REAL_PRECISION(17) };

/* ---- Reading ---- */

/* Returns the number `name` of an object; NAN if it is missing or not a number. */
double json_known(const json_t *object, const char *name);

/* Returns the string `name` of an object, borrowed from the object; "" if it is missing or not a
 * string. */
const char *json_text_of(const json_t *object, const char *name);

/* Callback for the object of one line; `line` counts from 1. */
typedef enum status json_take_line(void *arg, const json_t *object, int line, struct error *e);

/* Calls `take` for the object on each line of a file, until `take` fails. *lines: number of lines
 * read. Skips a torn last line, as its writer may have been killed. Errors: ERR_DATA if another
 * line is not an object, ERR_SYSTEM if the file cannot be read, or the error of `take`. */
enum status json_read_lines(FILE *file, const char *path, json_take_line *take, void *arg,
                            int *lines, struct error *e);
