/* JSON data of a page. Texts from files are converted to UTF-8 without control characters.
 * Functions return NULL if there is no memory; packing a NULL gives NULL. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "kernels/base/error.h"

json_t *data_text(const char *text);

/* Function whose output becomes one text. */
typedef void data_printer(FILE *out, const void *what);
json_t *data_print(data_printer *print, const void *what);

/* data_read reads a whole file unchanged; free with free. data_add_file adds its text to an
 * object. ERR_SYSTEM, naming the file, if it cannot be read. */
enum status data_read(char **text, const char *path, struct error *e);
enum status data_add_file(json_t *object, const char *key, const char *path, struct error *e);

/* Appends an element to a list of an object, making the list if it is missing. Takes ownership
 * of the element. */
enum status data_add(json_t *object, const char *list, json_t *element, struct error *e);

/* Writes an id for a text: letters, digits, '_' and '-', cut at `size`. */
void data_id(char *id, size_t size, const char *text);

/* Adds a CSV file to the tables of an object. Ids of its rows begin with `id`; readers save it
 * as `name`. */
enum status data_add_csv(json_t *object, const char *id, const char *name, const char *path,
                         struct error *e);
