/* Parses the command lines of sweeps. A sweep's options are table rows as in
 * bench/spec/options.def. Their values are in a struct config, from index OPT_OWN on. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"

/* Table row for an option of a sweep, from OPTION(id, name, type, min, max, preset, names, help).
 * Rows are in the order of ids. */
#define SWEEP_OPTION_ROW(id, name, type, min, max, preset, names, help)                            \
    {(enum option_id)(id),                                                                         \
     "--" name,                                                                                    \
     TYPE_##type,                                                                                  \
     SCOPE_WORKLOAD,                                                                               \
     "",                                                                                           \
     min,                                                                                          \
     max,                                                                                          \
     preset,                                                                                       \
     names,                                                                                        \
     help,                                                                                         \
     false},

/* Sets each of the n options to its default, if any, then to the values of arguments `--name value`
 * and `--name=value`. A list is `none`, `all` or names separated by commas. Sets *help to true if
 * --help or -h is given. ERR_SPEC or ERR_ARGUMENT if an argument is invalid. */
enum status sweep_options_take(struct config *config, const struct spec_option *rows, size_t n,
                               int argc, char **argv, bool *help, struct error *e);
void sweep_options_print(FILE *out, const struct spec_option *rows, size_t n);

/* Returns whether `name` is in the list. */
bool sweep_list_has(const struct value *list, const char *name);
/* Returns the value of option `id` as text; NULL if the text equals `word`, such as "none". */
const char *sweep_text_but(const struct config *config, int id, const char *word);
double sweep_number(const struct config *config, int id);
