/* Columns of all CSV files of a run, from columns/files.def and one columns/<file>.def per file.
 * Rows of a <file>.def:
 *
 *   COLUMN(id, type, unit, meaning)              type: TEXT INT REAL BOOL
 *   COLUMN_NAMED(id, name, type, unit, meaning)  a column whose name is a C keyword
 *   PLACE(id)                                    a column of bench/record/metrics.def
 *   PLACE_AS(id, meaning)                        a column of metrics.def with another description
 *
 * Writers, `scalebench list columns`, `explain` and columns.csv use these rows. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/point_flags.h"
#include "bench/spec/condition.h"
#include "kernels/base/timeline.h"

#define COLUMN_NAMED(id, name, type, unit, meaning) COLUMN(id, type, unit, meaning)

/* summary.csv has a column for a metric unless its `launches` in metrics.def is NONE */
#define IN_SUMMARY_NONE(...)
#define IN_SUMMARY_FIRST(...)  __VA_ARGS__
#define IN_SUMMARY_MAX(...)    __VA_ARGS__
#define IN_SUMMARY_MEDIAN(...) __VA_ARGS__
#define IN_SUMMARY_EITHER(...) __VA_ARGS__
#define IN_SUMMARY_SEEDS(...)  __VA_ARGS__

/* steps.csv shows every metric of a `step` line, epochs.csv every metric of an `epoch` or `eval`
 * line */
#define IN_STEPS_hello(id)
#define IN_STEPS_step(id) PLACE(id)
#define IN_STEPS_epoch(id)
#define IN_STEPS_eval(id)
#define IN_STEPS_end(id)
#define IN_STEPS_result(id)
#define IN_EPOCHS_hello(id)
#define IN_EPOCHS_step(id)
#define IN_EPOCHS_epoch(id) PLACE(id)
#define IN_EPOCHS_eval(id)  PLACE(id)
#define IN_EPOCHS_end(id)
#define IN_EPOCHS_result(id)

/* OVER_<line>(steps): sentence appended to the description of each metric of record line <line>.
 * `steps`: "timed " for columns of raw.csv, "" for columns of summary.csv. */
#define OVER_hello(steps) ""
#define OVER_step(steps)  ". Mean over " steps "steps and ranks"
#define OVER_epoch(steps) ""
#define OVER_eval(steps)  ""
#define OVER_end(steps)   ""

/* columns of summary.csv */
enum column_id {
#define COLUMN(id, type, unit, meaning) COLUMN_##id,
#define PLACE(id)                       COLUMN_##id,
#define PLACE_AS(id, meaning)           COLUMN_##id,
#include "bench/collect/columns/summary.def"
#undef COLUMN
#undef PLACE
#undef PLACE_AS
    COLUMNS,
    COLUMN_none = COLUMNS
};

/* A numeric member of struct point_summary that is also a column of summary.csv. */
struct point_number {
    enum column_id column;
    size_t offset;
    bool is_count; /* whether the member is a size_t; otherwise it is a double. In summary.csv, a
                      size_t of 0 is written as the value of `none` */
    double none;
};
const struct point_number *point_numbers(size_t *n);

const struct column *column_get(enum column_id id);
/* Returns the column of summary.csv with this name; COLUMNS: none. */
enum column_id column_find(const char *name);
/* Returns the *n columns of summary.csv whose values depend only on options, MPI library and page
 * size, not on machine or run (EXACT rows of summary.def). */
const enum column_id *columns_exact(size_t *n);
/* Returns the option whose value this column of summary.csv shows; OPTION_COUNT: none. */
enum option_id column_option(const char *name);

/* Returns the last part of an option's key, such as "strategy" for "sync.strategy". */
const char *key_end(const char *key);

/* Returns the kind of values that a condition, such as "speedup >= 1.8", may compare with the
 * column: numbers, texts, or either if the column has type BOOL. */
static inline enum condition_kind column_kind(const struct column *column)
{
    return column->type == CSV_TEXT   ? CONDITION_TEXT
           : column->type == CSV_BOOL ? CONDITION_ANY
                                      : CONDITION_NUMBER;
}

/* Returns the columns of a file, such as "summary.csv". `file` is borrowed. */
struct csv_file columns_of(const char *file);
/* Returns a column of a file by name; NULL: none. */
const struct column *column_of_file(const char *file, const char *name);

/* Returns whether a run of this spec writes the i-th CSV file of columns/files.def. True for
 * fits.csv, although it is left out if no curve is long enough for a fit. */
bool csv_file_is_wanted(size_t i, const struct spec *spec);

/* Returns the *n names of all CSV files that a run can have, without .csv, from
 * columns/files.def. */
const char *const *csv_file_names(size_t *n);

/* Returns the meaning of a row of `file` (from files.def) if a run of this spec does not write the
 * file; otherwise NULL. */
const char *csv_file_unwritten(const char *file, const struct spec *spec);

/* Returns the option that the spec must set so that the column has values (needs.def);
 * OPTION_COUNT: no option is missing. `name` may be a short name (step_ms) or a bound
 * (speedup_lo). */
enum option_id column_lack(const char *name, const struct spec *spec);
enum { LACK_BYTES = 320 };
/* Writes to `why` the reason why a column is empty. `lack`: the missing option, as returned by
 * column_lack. */
void column_explain_lack(char why[LACK_BYTES], enum option_id lack, const struct spec *spec);

/* Sets *range to the possible numbers of a column (ranges.def). `name` may be a short name
 * (step_ms) or a bound (speedup_lo). Returns false if the range is unknown. */
bool column_range(const char *name, struct condition_range *range);

/* Returns whether the column identifies rows within a launch (`keys` in files.def), such as epoch.
 * Other launches then have the same values, such as 1, 2, 3. */
bool csv_file_repeats(const char *file, const char *column);

/* Returns the column that determines the meaning of a row, such as metric in metrics.csv; "": all
 * rows have the same meaning. */
const char *csv_file_kind(const char *file);

/* one struct per CSV file, with a member per column; summary_row and columns_row are never filled,
 * because their rows are written as texts */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
#define PLACE(id)                       double id;
#define PLACE_AS(id, meaning)           double id;
struct summary_row {
#include "bench/collect/columns/summary.def"
};
struct columns_row {
#include "bench/collect/columns/columns.def"
};
struct raw_row {
#include "bench/collect/columns/raw.def"
};
struct epochs_row {
#include "bench/collect/columns/epochs.def"
};
struct classes_row {
#include "bench/collect/columns/classes.def"
};
struct segments_row {
#include "bench/collect/columns/segments.def"
};
struct metrics_row {
#include "bench/collect/columns/metrics.def"
};
struct steps_row {
#include "bench/collect/columns/steps.def"
};
struct timeline_row {
#include "bench/collect/columns/timeline.def"
};
struct resources_row {
#include "bench/collect/columns/resources.def"
};
struct losses_row {
#include "bench/collect/columns/losses.def"
};
struct fits_row {
#include "bench/collect/columns/fits.def"
};
struct rules_row {
#include "bench/collect/columns/rules.def"
};
struct layers_row {
#include "bench/collect/columns/layers.def"
};
#undef COLUMN
#undef PLACE
#undef PLACE_AS

/* row_writer is the type of functions that write one row of a CSV file, such as csv_add of
 * bench/collect/csv. `row`: the file's row struct, such as struct steps_row. */
struct csv;
typedef void row_writer(struct csv *csv, void *row);
