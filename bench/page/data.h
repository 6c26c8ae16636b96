/* Builds the JSON data of a page. Texts from files are converted to UTF-8 without control
 * characters, except line breaks and tabs. Functions that return a json_t pointer return NULL if
 * memory runs out. json_pack returns NULL if one of its arguments is NULL, so a check of
 * json_pack's result is sufficient. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "kernels/base/error.h"

json_t *data_text(const char *text);

/* A function whose printed output becomes one JSON string. */
typedef void data_printer(FILE *out, const void *what);
json_t *data_print(data_printer *print, const void *what);

/* data_read reads a whole file unchanged into *text, to be freed with free. data_add_file adds the
 * file's text to an object as `key`. ERR_SYSTEM with the file's name if the file is empty or
 * unreadable. */
enum status data_read(char **text, const char *path, struct error *e);
enum status data_add_file(json_t *object, const char *key, const char *path, struct error *e);

/* Appends an element to the list `list` of an object; the list is created if missing. Takes
 * ownership of the element. */
enum status data_add(json_t *object, const char *list, json_t *element, struct error *e);

/* Makes an HTML id of at most size - 1 characters from a text. Characters other than letters,
 * digits and '_' become '-'. */
void data_id(char *id, size_t size, const char *text);

/* Adds a CSV file to the object's list of tables, without empty columns. `id`: prefix of the HTML
 * ids of the rows. `name`: file name under which readers can save the table. */
enum status data_add_csv(json_t *object, const char *id, const char *name, const char *path,
                         struct error *e);
