/* Dictionaries of columns: for each kind of CSV file, what its columns mean. Internal to
 * bench/runner/commands. */
#pragma once

#include <stdbool.h>

#include "bench/record/csv.h"

struct dictionary {
    const struct column *columns; /* [n] columns; a run has columns of several files */
    size_t n;
    const char *what; /* what a row of the file is; NULL: the columns of a run */
};

/* Sets *d to the i-th dictionary. Returns false if there are fewer. */
bool dictionary_get(struct dictionary *d, size_t i);
