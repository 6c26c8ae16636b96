/* Reads the launches of a run from raw.csv, sorted by point and block. */
#pragma once

#include <stdbool.h>

#include "bench/record/csv_reader.h"

/* One row of raw.csv: a launch with its value in one column. */
struct launch_row {
    const char *point, *launch; /* point's identity, launch's folder; borrowed from the table */
    size_t row;
    double block;  /* number of the launch's block; NAN for an accuracy run */
    double value;  /* value in the requested column; NAN: empty cell or diverged launch */
    double images; /* images per step over all ranks; NAN if the workload is a command */
};

struct launch_rows {
    struct launch_row *items;
    size_t n;
};

/* Reads the successful launches of kind `run` ("time" or "accuracy"). With `diverged`, also reads
 * diverged launches, with value NAN. Zero *l first. Free with free(l->items), even after an
 * error. */
enum status launch_rows_read(struct launch_rows *l, const struct csv_table *raw, const char *run,
                             const char *column, bool diverged, struct error *e);

/* Returns the launches of a point, and sets *n to their number. */
const struct launch_row *launch_rows_of(const struct launch_rows *l, const char *point, size_t *n);

/* Returns the launch of a point in a block, NULL if there is none. Launches of one block ran
 * under similar conditions. */
const struct launch_row *launch_rows_in_block(const struct launch_rows *l, const char *point,
                                              double block);
