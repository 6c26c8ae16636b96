/* Columns of all CSV files of a run, from columns/files.def and one columns/<file>.def per file.
 * Their rows are:
 *
 *   COLUMN(id, type, unit, meaning)              type: TEXT INT REAL BOOL; empty: unknown
 *   COLUMN_NAMED(id, name, type, unit, meaning)  a column whose name is a C keyword
 *   PLACE(id)                                    a column of bench/record/metrics.def
 *   PLACE_AS(id, meaning)                        such a column with a meaning of its own
 *
 * Writers, `scalebench list columns`, `explain` and columns.csv use these rows. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/point_flags.h"
#include "bench/spec/condition.h"
#include "kernels/base/timeline.h"

#define COLUMN_NAMED(id, name, type, unit, meaning) COLUMN(id, type, unit, meaning)

/* expands to its arguments if a metric combined in this way has a column in summary.csv */
#define IN_SUMMARY_NONE(...)
#define IN_SUMMARY_FIRST(...)  __VA_ARGS__
#define IN_SUMMARY_MAX(...)    __VA_ARGS__
#define IN_SUMMARY_MEDIAN(...) __VA_ARGS__
#define IN_SUMMARY_EITHER(...) __VA_ARGS__
#define IN_SUMMARY_SEEDS(...)  __VA_ARGS__

/* columns of metrics.def that steps.csv and epochs.csv show without placing them, by kind of record
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

/* text that files of launches and points append to a metric's meaning; steps: "" or "timed " */
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

/* A number of struct point_summary that is a column. */
struct point_number {
    enum column_id column;
    size_t offset;
    bool is_count; /* a size_t, with 0 written as `none`; else a double */
    double none;
};
const struct point_number *point_numbers(size_t *n);

const struct column *column_get(enum column_id id);
/* Returns the column of summary.csv with this name; COLUMNS: none. */
enum column_id column_find(const char *name);
/* Returns the option whose value this column of summary.csv shows; OPTION_COUNT: none. */
enum option_id column_option(const char *name);

/* Returns how conditions compare the column's values. Truth values compare as number and as
 * text. */
static inline enum condition_kind column_kind(const struct column *column)
{
    return column->type == CSV_TEXT   ? CONDITION_TEXT
           : column->type == CSV_BOOL ? CONDITION_ANY
                                      : CONDITION_NUMBER;
}

/* Returns the *n columns of a file, such as "summary.csv". */
const struct column *columns_of(const char *file, size_t *n);
/* Returns a column of a file by name; NULL: none. */
const struct column *column_of_file(const char *file, const char *name);

/* Returns whether a run of this spec writes the i-th file of columns/files.def. */
bool csv_file_is_wanted(size_t i, const struct spec *spec);

/* Returns the *n names of files in columns/files.def, without .csv. */
const char *const *csv_file_names(size_t *n);

/* Returns the description of a file's rows if a run of this spec does not write the file. NULL: it
 * does, or no run has such a file. */
const char *csv_file_unwritten(const char *file, const struct spec *spec);

/* Returns the option without which a run of this spec leaves the column empty (needs.def);
 * OPTION_COUNT: none. `name` may be a short name (step_ms) or a bound of an interval
 * (speedup_lo). */
enum option_id column_lack(const char *name, const struct spec *spec);
enum { LACK_BYTES = 320 };
/* Writes why the column is empty: which option it needs. */
void column_explain_lack(char why[LACK_BYTES], enum option_id lack, const struct spec *spec);

/* Gives the range of numbers in a column (ranges.def). Names are as for column_lack. Returns false
 * if the range is unknown. */
bool column_range(const char *name, struct condition_range *range);

/* Returns whether the column has the same values in every launch, such as epoch: 1, 2, 3. */
bool csv_file_repeats(const char *file, const char *column);

/* Returns the name of the column that distinguishes kinds of rows, such as metric in metrics.csv; "": all rows are of one
 * kind. */
const char *csv_file_kind(const char *file);

/* one row of each file; summary.csv and columns.csv are written as texts */
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
struct rules_row {
#include "bench/collect/columns/rules.def"
};
struct layers_row {
#include "bench/collect/columns/layers.def"
};
#undef COLUMN
#undef PLACE
#undef PLACE_AS

/* Writes a row of a file from its struct above: csv_add of bench/collect/csv. */
struct csv;
typedef void row_writer(struct csv *csv, void *row);

/* A table that launches of a sweep write; a run joins the rows of all its points. A sweep is a
 * program that times parts of a training step in isolation. */
struct sweep_table {
    const char *file;
    const struct column *columns; /* [n] columns, without offsets */
    size_t n;
    const char *what; /* meaning of a row, for users */
};
const struct sweep_table *sweep_tables(size_t *n);
