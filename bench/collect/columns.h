/* The columns of every CSV file of a run, from csv_files.def and a csv_<file>.def each, whose rows
 * are
 *
 *   COLUMN(id, type, unit, meaning)    type: TEXT INT REAL BOOL; an unknown value is an empty field
 *
 * The same rows feed the writers, `scalebench list columns`, `explain` and columns.csv. Internal to
 * bench/collect. */
#ifndef SCALEBENCH_BENCH_COLLECT_COLUMNS_H
#define SCALEBENCH_BENCH_COLLECT_COLUMNS_H

#include "bench/collect/collect.h"

/* Of summary.csv. */
enum column_id {
#define COLUMN(id, type, unit, meaning) COLUMN_##id,
#include "bench/collect/csv_summary.def"
#undef COLUMN
    COLUMNS
};

const struct column *column_get(enum column_id id);
/* COLUMNS where summary.csv has no such column. */
enum column_id column_find(const char *name);

/* The columns of one file. */
const struct column *columns_of(const char *file, size_t *n);

/* Whether a run of this spec leaves the i-th file of csv_files.def. */
bool csv_file_is_wanted(size_t i, const struct spec *spec);

/* A row of each file but summary.csv and columns.csv. */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct raw_row {
#include "bench/collect/csv_raw.def"
};
struct epochs_row {
#include "bench/collect/csv_epochs.def"
};
struct classes_row {
#include "bench/collect/csv_classes.def"
};
struct steps_row {
#include "bench/collect/csv_steps.def"
};
#undef COLUMN

#endif
