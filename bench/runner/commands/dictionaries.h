/* The columns of every CSV file that a run, a command, a figure or a sweep writes. Internal to bench/runner/commands. */
#pragma once

#include <stdbool.h>

#include "bench/record/csv.h"

struct dictionary {
    const struct column *columns; /* [n]; of several files where they are those of a run */
    size_t n;
    const char *what; /* what a row is; NULL: the columns are of a run */
};

/* The i-th; false beyond the last. */
bool dictionary_get(struct dictionary *d, size_t i);
