/* Command lines of sweeps: rows as those of the table of options (bench/spec/options.def), whose values lie in a config
 * from OPT_OWN on. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"

/* An option of a sweep, in the order of their ids: OPTION(id, name, type, min, max, preset, names, help). */
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

/* Sets every row [n] to its preset, then to what `--name value` and `--name=value` say; nothing else may be there. A
 * list is names separated by commas, none, or all of the row's names. *help: --help or -h is there. ERR_SPEC, ERR_ARGUMENT. */
enum status sweep_options_take(struct config *config, const struct spec_option *rows, size_t n,
                               int argc, char **argv, bool *help, struct error *e);
void sweep_options_print(FILE *out, const struct spec_option *rows, size_t n);

/* Whether it is an entry of the list. */
bool sweep_list_has(const struct value *list, const char *name);
/* The value of a row. NULL: the text is `word`. */
const char *sweep_text_but(const struct config *config, int id, const char *word);
double sweep_number(const struct config *config, int id);
