/* The launches of a run as raw.csv has them, by point and block. */
#pragma once

#include <stdbool.h>

#include "bench/record/csv_reader.h"

/* A launch that counts; the rest of what it says is in its row of the table. */
struct launch_row {
    const char *point, *launch; /* borrowed from the table */
    size_t row;
    double block;  /* NAN of an accuracy run */
    double value;  /* of the column asked for */
    double images; /* in a step; NAN of somebody else's program */
};

struct launch_rows {
    struct launch_row *items;
    size_t n;
};

/* Reads the launches of a kind, time or accuracy, that ended well; with `diverged` also those that diverged, whose value
 * is NAN. Freed with free(l->items) in any case. */
enum status launch_rows_read(struct launch_rows *l, const struct csv_table *raw, const char *run,
                             const char *column, bool diverged, struct error *e);

/* Those of a point, *n of them. */
const struct launch_row *launch_rows_of(const struct launch_rows *l, const char *point, size_t *n);

/* The launch of a point in a block: launches of one block ran under like conditions. NULL: there is none. */
const struct launch_row *launch_rows_in_block(const struct launch_rows *l, const char *point,
                                              double block);
