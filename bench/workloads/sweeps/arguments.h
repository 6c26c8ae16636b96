/* Command lines of sweeps: a table of options, which parses them and is what --help prints. All
 * errors are ERR_ARGUMENT with what is wrong and what is accepted; texts are borrowed from argv. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kernels/base/names.h"

struct option_row {
    const char *name, *value; /* "sizes", "A[,B..]"; NULL: takes none */
    const char *help;
    /* Takes a value in. NULL: `offset` is where the options have a const char * for it, or a bool
     * where it takes none. */
    enum status (*take)(void *options, const char *value, struct error *e);
    size_t offset;
};

/* Takes every option of argv in its order into `options`. Nothing else may be there. */
enum status options_take(int argc, char **argv, const struct option_row *table, size_t n,
                         void *options, struct error *e);
void options_print(FILE *out, const struct option_row *table, size_t n);

/* A whole number of 1..most. */
enum status option_count(const char *option, const char *text, int most, int *value,
                         struct error *e);

/* Names separated by commas. n = 0 with `none`: nothing; without: everything. */
enum { CHOICE_NAMES = 64 };
struct choice {
    char text[512];
    const char *names[CHOICE_NAMES];
    int n;
    bool none;
};
enum status option_choice(const char *option, const char *text, struct choice *c, struct error *e);
/* The same of names [n] only, or all. */
enum status option_choice_of(const char *option, const char *text, const char *const *names,
                             size_t n, struct choice *c, struct error *e);
bool choice_has(const struct choice *c, const char *name);
