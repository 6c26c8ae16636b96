/* Columns of every CSV file that runs, commands, figures or sweeps write. Internal to
 * bench/runner/commands. */
#pragma once

#include <stdbool.h>

#include "bench/record/csv.h"

struct dictionary {
    const struct column *columns; /* [n]; of several files for the columns of a run */
    size_t n;
    const char *what; /* meaning of a row; NULL: columns of a run */
};

/* Gets the i-th dictionary; false if there is none. */
bool dictionary_get(struct dictionary *d, size_t i);
