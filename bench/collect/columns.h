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

/* A row of each other file: the fields that its table names. Numbers that are NAN, texts that are
 * NULL and truths below 0 are unknown. */
#define CELL_TEXT                       const char *
#define CELL_INT                        double
#define CELL_REAL                       double
#define CELL_BOOL                       int
#define COLUMN(id, type, unit, meaning) CELL_##type id;
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
struct columns_row {
#include "bench/collect/csv_columns.def"
};
#undef COLUMN

#endif
