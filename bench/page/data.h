/* What a page holds, as JSON: texts that come from files without control characters and in UTF-8. NULL where there is no
 * memory, so that what is packed of them is NULL, too. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "kernels/base/error.h"

json_t *data_text(const char *text);

/* What `print` prints, as one text. */
typedef void data_printer(FILE *out, const void *what);
json_t *data_print(data_printer *print, const void *what);

/* The whole file, as it is, which the caller frees; as a text of an object. ERR_SYSTEM names one that cannot be read. */
enum status data_read(char **text, const char *path, struct error *e);
enum status data_add_file(json_t *object, const char *key, const char *path, struct error *e);

/* Adds an element to a list of an object, which begins with the first; the list owns it. */
enum status data_add(json_t *object, const char *list, json_t *element, struct error *e);

/* An id of letters, digits, '_' and '-' that resembles the text, cut off at `size`. */
void data_id(char *id, size_t size, const char *text);

/* Adds a CSV file to the tables of an object: ids of its rows begin with `id`, a reader saves it as `name`. */
enum status data_add_csv(json_t *object, const char *id, const char *name, const char *path,
                         struct error *e);
